package highlight

// Kind says what a piece of source is.
type Kind uint8

// The kinds. What is Plain is in no token.
const (
	Plain Kind = iota
	Comment
	String
	Number // and constants: true, nil
	Keyword
	Type    // and what is built in
	Name    // of what is called or defined
	Key     // of a value: in JSON, YAML, an attribute
	Meta    // preprocessor, decorator, markup
	Heading // of a section
	Added   // in a diff
	Removed
)

// Token is line[From:To], of one kind. It is never empty.
type Token struct {
	From, To int
	Kind     Kind
}
