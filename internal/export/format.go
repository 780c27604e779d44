package export

// A Format is the name of a document format.
type Format = string

// The formats.
const (
	FormatMarkdown  Format = "md"
	FormatJSONLines Format = "jsonl"
	FormatHTML      Format = "html"
	FormatAsciicast Format = "asciicast"
)

// Formats lists the formats.
var Formats = []Format{FormatMarkdown, FormatJSONLines, FormatHTML, FormatAsciicast}
