package thumbnail

// Colours is the number of colours of a terminal.
type Colours int

// The numbers of colours. Thumbnails need 256, placeholders all.
const (
	UnknownColours Colours = iota
	FewColours             // at most sixteen
	ManyColours            // 256
	AllColours             // 24 bits
)

// terminal is what is known of a terminal.
type terminal struct {
	colours      Colours
	asked        bool // the query was sent
	answered     bool // the query has all answers that it gets in time
	graphics     bool // the terminal has the graphics protocol of kitty
	placeholders bool // it is one that is known to draw placeholders
}

// method returns how the terminal draws images in a mode.
func (t *terminal) method(mode Mode) Method {
	switch {
	case mode == Off || t.colours == FewColours:
		return AsText
	case t.colours == UnknownColours:
		return Undecided
	case mode == Blocks || t.colours != AllColours:
		return HalfBlocks
	case mode == UseKitty || t.graphics && t.placeholders:
		return Kitty
	case !t.answered:
		return Undecided
	}
	return HalfBlocks
}

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
