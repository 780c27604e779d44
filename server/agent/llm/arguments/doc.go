// Package arguments defines the arguments of tools by structs: their JSON Schema for a model, and how they are read as
// a model sent them: by other known names, with numbers as texts, with a list as a command line. It returns them as
// the tool takes them, so that users and rules see what runs. Its errors are for a model.
package arguments
