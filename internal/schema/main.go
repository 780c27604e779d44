package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// sources is the directory of package protocol, relative to this one: go generate and go test run
// here.
const sources = "../../protocol"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: schema FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	text, err := generate()
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// generate returns the content of the schema file.
func generate() ([]byte, error) {
	words, err := readComments(sources)
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document(words)); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return b.Bytes(), nil
}
