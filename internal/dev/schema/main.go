package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	var files map[string][]byte
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "config":
		files, err = configFiles(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == "protocol":
		files, err = protocolFiles()
	case len(os.Args) == 3 && os.Args[1] == "access":
		files = map[string][]byte{}
		files[accessFile], err = access()
	default:
		fmt.Fprintln(os.Stderr, "usage: schema protocol DIR | schema config DIR | schema access DIR")
		os.Exit(2)
	}
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[2], name), text, 0o644)
		}
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

// protocolFiles returns the schema of the protocol and the description of the HTTP interface, by
// name of the file.
func protocolFiles() (map[string][]byte, error) {
	lines, err := document()
	if err != nil {
		return nil, err
	}
	routes, err := httpDocument()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, v := range map[string]any{schemaFile: lines, openAPIFile: routes} {
		if files[name], err = encode(v); err != nil {
			return nil, err
		}
	}
	return files, nil
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
