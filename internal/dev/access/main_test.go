package main

import (
	"bytes"
	"os"
	"testing"
)

func TestThePageIsWhatTheTablesSay(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/access.md is stale: run go generate ./...")
	}
}
