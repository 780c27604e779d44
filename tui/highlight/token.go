package highlight

// Kind is the kind of a token.
type Kind uint8

// The kinds. No token is Plain.
const (
	Plain Kind = iota
	Comment
	String
	Number // or a constant, such as true or nil
	Keyword
	Type    // or a builtin
	Name    // called or defined
	Key     // of a value: in JSON, YAML, an attribute
	Meta    // preprocessor, decorator, markup
	Heading // of a section
	Added   // in a diff
	Removed
)

// Token is the part line[From:To] of a line. It is not empty.
type Token struct {
	From, To int
	Kind     Kind
}
