package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// sources is where the comments of package protocol are, as seen from this directory: go generate and go test both run in it.
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

// generate returns the whole schema as the file holds it.
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
