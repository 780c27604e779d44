package thumbnail

// Mode is the user's choice of how images are drawn.
type Mode string

// The modes.
const (
	Auto     Mode = "auto"   // by the answers of the terminal
	UseKitty Mode = "kitty"  // the graphics protocol of kitty
	Blocks   Mode = "blocks" // half blocks
	Off      Mode = "off"    // a line of text
)

// Modes returns all modes, the default first.
func Modes() []Mode { return []Mode{Auto, UseKitty, Blocks, Off} }

// Method is a way to draw images on a terminal.
type Method int

// The methods.
const (
	Undecided  Method = iota // the terminal has not answered yet
	AsText                   // images are not drawn
	HalfBlocks               // two pixels a cell, as a half block in two colours
	Kitty                    // Unicode placeholders of the graphics protocol of kitty
)
