package text

import (
	"strings"
	"testing"
)

func TestTellingKey(t *testing.T) {
	for _, key := range []string{
		"token", "Token", "TOKEN", "access_token", "accessToken", "accesstoken", "AccessTokens", "refresh-token", "x.auth.token",
		"secret", "client_secret", "clientSecret", "SECRETS", "password", "PASSWORD", "userPassword", "dbpassword", "password1", "password_hash",
		"passwordhash", "passwd", "pwd", "pass", "passphrase", "authorization", "Proxy-Authorization", "auth", "auth_header", "AuthHeader", "HTTPAuth",
		"cookie", "set-cookie", "Set-Cookie", "cookies", "api_key", "apikey", "api-key", "apiKey", "APIKey", "API_KEY", "X-Api-Key", "apiKEY", "api key",
		"access_key", "AWS_SECRET_ACCESS_KEY", "accessKeyId", "private_key", "privateKey", "sshPrivateKey", "signing_key", "credential", "credentials",
		"session", "session_id", "sessionId", "JSESSIONID", "PHPSESSID", "card", "card_number", "cardNumber", "cardnumber", "creditCard", "cards",
		"pan", "PAN", "cvv", "cvv2", "cvc", "card.cvc", "iban", "customerIban", "ssn", "pin", "PIN", "userPIN", "pin_code", "otp", "totp", "bearer",
		"signature", "X-Signature", "jwt", "csrf_token", "verification_code", "securityCode",
	} {
		if tellingKey(key) == notTelling {
			t.Errorf("%q is not telling", key)
		}
	}
	for _, key := range []string{
		"", "id", "key", "keys", "shipping", "shipping_address", "spin", "pinned", "opinion", "discard", "discarded", "wildcard", "cardinality", "dashboard",
		"author", "authors", "authority", "authorized", "company", "span", "panel", "expand", "effect_key", "idempotency_key", "idempotencyKey", "primaryKey",
		"foreign_key", "secretary", "tokenizer", "tokenized", "bypass", "passenger", "compass", "class", "sessile", "professional", "assigned", "design",
		"number", "order_number", "code", "status_code", "errorCode", "signal", "hotpatch", "kind", "worker", "received", "description", "cabin", "monkey",
		"é", "東京", "_", "--", "123",
	} {
		if tellingKey(key) != notTelling {
			t.Errorf("%q is telling", key)
		}
	}
	if tellingKey(strings.Repeat("x", 1000)+"_password") == notTelling || tellingKey(strings.Repeat("x", 1000)+"token") == notTelling {
		t.Error("a long key hides its end")
	}
}

const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

func TestMaskText(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		// shapes
		{"got " + jwt + " back", "got •••• back"},
		{"cut off: eyJhbGciOiJIUzI1NiJ9", "cut off: ••••"},
		{"Authorization: Bearer abc123 rejected", "Authorization: •••• rejected"},
		{"sent bearer xxx, refused", "sent bearer ••••, refused"},
		{"bearer token 9f3a77 refused", "bearer token •••• refused"},
		{"Basic dXNlcjpwYXNz failed", "Basic •••• failed"},
		{"stripe sk_live_4eC39HqLyjWDarjtT1zdp7dc", "stripe ••••"},
		{"(sk_test_1)", "(••••)"},
		{"AKIAIOSFODNN7EXAMPLE", "••••"},
		{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "••••"},
		{"xoxb-123-abc and xoxp-9", "•••• and ••••"},
		{"openai sk-proj-abcdefghijklmnop1234", "openai ••••"},
		{"a-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz==\n-----END RSA PRIVATE KEY-----b", "a••••b"},
		{"-----BEGIN PRIVATE KEY-----\nMIIE (truncated", "••••"},
		{"card 4111111111111111 declined", "card •••• declined"},
		{"card 4111 1111 1111 1111 2026", "card •••• 2026"},
		{"card 4111-1111-1111-1111.", "card ••••."},
		{"amex 378282246310005, 3782 822463 10005", "amex ••••, ••••"},
		{"postgres://alice:s3cret@db/x", "postgres://alice:••••@db/x"},
		{"postgres://alice:p@ss/w?rd@db:5432/x?a=b", "postgres://alice:••••@db:5432/x?a=b"},
		{"http://u:p@h/?mail=a@b.c tail", "http://u:••••@b.c tail"},
		{"redis://:pw@h", "redis://:••••@h"},
		// assignments
		{"password=hunter2", "password=••••"},
		{"host=db password=hun,ter&2 user=bob", "host=db password=•••• user=bob"},
		{"host=db password='it''s me' user=bob", "host=db password='••••' user=bob"},
		{"Server=x;Password=abc;Database=d", "Server=x;Password=••••;Database=d"},
		{"GET /cb?token=abc&state=1 HTTP/1.1", "GET /cb?token=••••&state=1 HTTP/1.1"},
		{"token=abc, user=bob", "token=••••, user=bob"},
		{"password: hunter2", "password: ••••"},
		{"Api Key: abc", "Api Key: ••••"},
		{"secret => 'abc'", "secret => '••••'"},
		{`{"password":"hun\"ter2","id":7}`, `{"password":"••••","id":7}`},
		{`{"password":"a\\","id":7}`, `{"password":"••••","id":7}`},
		{`{"pin":1234,"id":7,"otp":99}`, `{"pin":••••,"id":7,"otp":••••}`},
		{`{"card":{"n":"}4","x":[1]},"id":7}`, `{"card":••••,"id":7}`},
		{`{"token":null,"pin": null}`, `{"token":null,"pin": null}`},
		{`body {\"token\":\"ab\\\"c\",\"id\":1}`, `body {\"token\":\"••••\",\"id\":1}`},
		{`"{\"token\":\"abc"`, `"{\"token\":\"••••"`},
		{`{'password': 'x', 'id': 1}`, `{'password': '••••', 'id': 1}`},
		{"{Password:hunter2 Id:7}", "{Password:•••• Id:7}"},
		{"token: Bearer abc def", "token: •••• def"},
		{"Cookie: a=1; b=2\nHost: x", "Cookie: ••••\nHost: x"},
		{"Set-Cookie: sid=abc; Path=/; HttpOnly", "Set-Cookie: ••••"},
		{`password="never closed`, `password="••••`},
		{"Key (card_number)=(4242) already exists.", "Key (card_number)=(••••) already exists."},
		{"Key (id, token)=(1, a)b) already exists.", "Key (id, token)=(••••) already exists."},
		{"mysql --password hunter2 --token 'a b' --user bob", "mysql --password •••• --token '••••' --user bob"},
		{"mysql --password=hunter2 --password --user bob", "mysql --password=•••• --password --user bob"},
		{"password=x\npassword=y", "password=••••\npassword=••••"},
		// left alone
		{"", ""},
		{"unexpected token: end of input", "unexpected token: end of input"},
		{"card: declined by issuer", "card: declined by issuer"},
		{"session: expired", "session: expired"},
		{"bearer token is missing", "bearer token is missing"},
		{"Bearer authentication failed", "Bearer authentication failed"},
		{"basic functionality", "basic functionality"},
		{"Key (id)=(charge-1) already exists.", "Key (id)=(charge-1) already exists."},
		{"https://host:8080/a?b=c@d", "https://host:8080/a?b=c@d"},
		{"ssh://git@host/x https://[::1]:80/a@b", "ssh://git@host/x https://[::1]:80/a@b"},
		{"dial tcp 10.0.0.1:5432: connect: connection refused", "dial tcp 10.0.0.1:5432: connect: connection refused"},
		{"4111111111111112", "4111111111111112"},
		{"0.4111111111111111", "0.4111111111111111"},
		{"id 1970670598291982290, ms 1764430000000", "id 1970670598291982290, ms 1764430000000"},
		{"41111111111111114111111111111111", "41111111111111114111111111111111"},
		{"2024-01-02 03:04:05", "2024-01-02 03:04:05"},
		{"shipping=fast author=bob effect_key=charge-1", "shipping=fast author=bob effect_key=charge-1"},
		{"-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----"},
		{"x::token y = ", "x::token y = "},
		{"password:", "password:"},
		{"task-12345678901234567890", "task-12345678901234567890"},
		{"receipt ch_8121, in_9917", "receipt ch_8121, in_9917"},
	} {
		if got := Unicode.MaskText(tc.in); got != tc.want {
			t.Errorf("MaskText(%q)\n got %q\nwant %q", tc.in, got, tc.want)
		}
	}
	if got, want := ASCII.MaskText("password=x"), "password=****"; got != want {
		t.Errorf("ASCII.MaskText = %q, want %q", got, want)
	}
}

func TestMaskTextIsLinear(t *testing.T) {
	for _, unit := range []string{
		"=", ":", "://", "://u:x", "password=", "token:[", "token:{", "-----BEGIN PRIVATE KEY-----", "Bearer ", "Basic QUFB ", "eyJ", "4111 ", "1",
		`\"`, `password="`, `"`, "key ", "Key (token)=(", "a,b=", "; ", "sk-", "cookie: a; ", "-", "--a ", "--token ",
	} {
		checkLinear(t, unit, func(s string) { Unicode.MaskText(s) })
	}
}

func BenchmarkMaskText(b *testing.B) {
	s := strings.Repeat("provider timeout after 30s: POST https://api.example.com:443/v1/charges?id=charge-10442 HTTP 504\n\tat pay.go:88\n", 9000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Unicode.MaskText(s)
	}
}
