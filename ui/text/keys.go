package text

import "bytes"

// telling says how surely the value under a key is a secret.
type telling uint8

const (
	notTelling telling = iota
	// mayTell: in prose the word may also stand for itself ("unexpected token: end").
	mayTell
	// tells: nothing but a secret follows.
	tells
	// tellsList: likewise, and it may go on over several words (Cookie: a=1; b=2).
	tellsList
)

// secretWords are telling as a whole word of a key, in the singular.
var secretWords = map[string]telling{
	"auth": mayTell, "authorization": tellsList, "authorisation": tellsList, "bankcard": mayTell,
	"bearer": mayTell, "card": mayTell, "cookie": tellsList, "cred": tells, "creditcard": mayTell,
	"csc": mayTell, "csrf": mayTell, "cvc": mayTell, "cvv": mayTell, "debitcard": mayTell, "hmac": mayTell,
	"iban": mayTell, "jwt": mayTell, "mnemonic": mayTell, "oauth": mayTell, "otp": mayTell, "pan": mayTell,
	"pass": mayTell, "passcode": tells, "pin": mayTell, "pincode": mayTell, "pwd": tells, "session": mayTell,
	"sig": mayTell, "ssn": mayTell, "totp": mayTell, "xsrf": mayTell,
}

// secretEndings are telling at the end of a word, because keys are also written
// without any boundary (accesstoken, dbpassword), and as two words (api_key).
var secretEndings = []struct {
	word  string
	level telling
}{
	{"accesscode", tells}, {"accesskey", tells}, {"accountkey", tells}, {"accountnumber", mayTell}, {"apikey", tells},
	{"authkey", tells}, {"cardnumber", mayTell}, {"cookie", tellsList}, {"credential", tells}, {"encryptionkey", tells},
	{"masterkey", tells}, {"passphrase", tells}, {"passwd", tells}, {"password", tells}, {"privatekey", tells},
	{"secret", tells}, {"secretkey", tells}, {"securitycode", tells}, {"sessid", tells}, {"sessionid", tells},
	{"sharedkey", tells}, {"signature", mayTell}, {"signingkey", tells}, {"sshkey", tells}, {"storagekey", tells},
	{"token", mayTell}, {"verificationcode", tells},
}

// wordMost is longer than any word or pair of words above.
const wordMost = 40

// tellingKey reports whether key names a secret, by its words: those between
// anything but letters, and those of camel case (APIKey is API, Key).
func tellingKey(key string) telling {
	var (
		pair [2 * wordMost]byte // the word before and this one, in lower case
		prev int                // length of the word before
		best telling
	)
	for i := 0; i < len(key); {
		if !letter(key[i]) {
			i++
			continue
		}
		start := i
		for i++; i < len(key) && letter(key[i]) && !camel(key, i); i++ {
		}
		// Only the end of a very long word can tell.
		word := key[max(start, i-wordMost):i]
		n := prev
		for j := range len(word) {
			pair[n] = lower(word[j])
			n++
		}
		best = max(best, tellingWord(pair[prev:n]), ending(pair[:n]))
		prev = copy(pair[:], pair[prev:n])
	}
	return best
}

func tellingWord(word []byte) telling {
	if level, ok := secretWords[string(word)]; ok {
		return level
	}
	return secretWords[string(singular(word))]
}

// ending returns the level of the telling ending that word has.
func ending(word []byte) telling {
	word = singular(word)
	for _, e := range secretEndings {
		if len(word) >= len(e.word) && string(word[len(word)-len(e.word):]) == e.word {
			return e.level
		}
	}
	// The one stem that is telling whatever follows: passwordhash.
	if bytes.HasPrefix(word, []byte("password")) {
		return tells
	}
	return notTelling
}

func singular(word []byte) []byte {
	if n := len(word); n > 3 && word[n-1] == 's' {
		return word[:n-1]
	}
	return word
}

// camel reports whether a word of camel case begins at key[i], i > 0.
func camel(key string, i int) bool {
	if !upper(key[i]) {
		return false
	}
	return !upper(key[i-1]) || (i+1 < len(key) && letter(key[i+1]) && !upper(key[i+1]))
}

// letter counts every byte above ASCII as part of a letter.
func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 }

func upper(b byte) bool { return b >= 'A' && b <= 'Z' }

func lower(b byte) byte {
	if upper(b) {
		return b | 0x20
	}
	return b
}
