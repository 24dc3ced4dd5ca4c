package text

// Charset says which characters the screen may use. The zero value is [Unicode].
type Charset uint8

const (
	// Unicode is for terminals that show UTF-8.
	Unicode Charset = iota
	// ASCII writes nothing above U+007E; anything else in the data is escaped.
	ASCII
)

// Ellipsis marks text that was cut short.
func (c Charset) Ellipsis() string {
	if c == ASCII {
		return "~"
	}
	return "…"
}

// Mask stands for a secret. Its length says nothing about the secret's.
func (c Charset) Mask() string {
	if c == ASCII {
		return "****"
	}
	return "••••"
}

// Approx precedes an estimated figure.
func (c Charset) Approx() string {
	if c == ASCII {
		return "~"
	}
	return "≈"
}
