package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// sources are the directories of the packages whose types are described, relative to this one: go
// generate and go test run here.
var sources = []string{"../../../protocol", "../../../server/history", "../../../server/web"}

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "config":
		err = writeConfig(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "protocol":
		err = write(os.Args[2])
	default:
		fmt.Fprintln(os.Stderr, "usage: schema protocol DIR | schema config DIR")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

// The files of the protocol, in the directory of documents.
const (
	schemaFile  = "protocol.schema.json"
	openAPIFile = "openapi.json"
)

// documents returns the content of the files.
func documents() (map[string]any, error) {
	w, err := readComments(sources...)
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	return map[string]any{schemaFile: strict(w), openAPIFile: httpDocument(w)}, nil
}

// write writes the schema of the protocol and the description of the HTTP interface.
func write(dir string) error {
	files, err := documents()
	if err != nil {
		return err
	}
	for name, v := range files {
		text, err := encode(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// encode returns the content of a file.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return b.Bytes(), nil
}
