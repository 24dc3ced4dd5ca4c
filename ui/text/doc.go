// Package text turns values from the database into safe, fitting screen text.
// The console and the commands both use it.
//
// Untrusted text takes three steps, in this order: mask it ([Charset.MaskText],
// [Charset.MaskJSON]), sanitise it ([Charset.Sanitize], [Charset.SanitizeBlock]),
// then fit it ([Charset.Truncate], [Wrap], [PadRight]). [Charset.Line] does the last
// two at once. Masking comes first because an escape in the middle of a secret would
// hide it from the patterns.
//
// Nothing here adds colour: style the result, never the input.
package text
