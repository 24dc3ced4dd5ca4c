package theme

// Glyphs are the characters that the console draws with.
type Glyphs struct {
	Horizontal, Vertical                       string
	TopLeft, TopRight, BottomLeft, BottomRight string
	TeeDown, TeeUp, TeeRight, TeeLeft          string
	Right, Left, Up                            string // arrow heads
	Cursor                                     string // before the selected row
	Mark                                       string // before a marked row
	New, Gone                                  string // before a row that came or went
	Crumb                                      string // between the parts of the breadcrumb
	Paused                                     string
	Dot                                        string // between facts
	Caret                                      string // where typing goes
	Bars                                       []string
	BarFull, BarEmpty                          string
}

var unicodeGlyphs = Glyphs{
	Horizontal: "─", Vertical: "│", TopLeft: "┌", TopRight: "┐", BottomLeft: "└", BottomRight: "┘",
	TeeDown: "┬", TeeUp: "┴", TeeRight: "├", TeeLeft: "┤", Right: "▶", Left: "◀", Up: "▲",
	Cursor: ">", Mark: "•", New: "+", Gone: "-", Crumb: "›", Paused: "‖", Dot: "·", Caret: "▏",
	Bars: []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, BarFull: "█", BarEmpty: "░",
}

var asciiGlyphs = Glyphs{
	Horizontal: "-", Vertical: "|", TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	TeeDown: "+", TeeUp: "+", TeeRight: "+", TeeLeft: "+", Right: ">", Left: "<", Up: "^",
	Cursor: ">", Mark: "*", New: "+", Gone: "-", Crumb: "/", Paused: "=", Dot: "-", Caret: "_",
	Bars: []string{" ", ".", ".", ":", ":", "+", "+", "#", "#"}, BarFull: "#", BarEmpty: ".",
}
