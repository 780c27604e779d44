package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: release BINARY DIR")
		os.Exit(2)
	}
	if err := write(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// write writes the files about a binary into a directory, which it makes.
func write(ctx context.Context, binary, dir string) error {
	p, err := readProgram(ctx, binary)
	if err != nil {
		return err
	}
	bom, err := p.billOfMaterials()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "THIRD_PARTY_LICENSES"), p.licences(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sbom.cdx.json"), bom, 0o644)
}
