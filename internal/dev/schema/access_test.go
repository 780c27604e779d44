package main

import (
	"bytes"
	"os"
	"testing"
)

func TestThePageOfRolesIsWhatTheTablesSay(t *testing.T) {
	want, err := access()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/" + accessFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error(accessFile + " is stale: run go generate ./...")
	}
}
