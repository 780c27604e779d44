package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// The source of the table. A new version needs its sum, which the error names.
const (
	module  = "charm.land/catwalk"
	version = "v0.52.86"
	sum     = "h1:NEP2RXZWj8amSaywrhf2TGWPxHEKCxSdJZdnATGFQ4A="
)

// providers maps the files of the source to names of providers.
var providers = []struct{ file, name string }{
	{"anthropic", "anthropic"},
	{"cerebras", "cerebras"},
	{"deepseek", "deepseek"},
	{"gemini", "google"},
	{"groq", "groq"},
	{"moonshot", "moonshot"},
	{"openai", "openai"},
	{"openrouter", "openrouter"},
	{"xai", "xai"},
	{"zai", "zai"},
}

// A source is a file of the source.
type source struct {
	Endpoint string        `json:"api_endpoint"`
	Models   []sourceModel `json:"models"`
}

type sourceModel struct {
	ID        string   `json:"id"`
	In        float64  `json:"cost_per_1m_in"`
	Out       float64  `json:"cost_per_1m_out"`
	InCached  float64  `json:"cost_per_1m_in_cached"`
	OutCached float64  `json:"cost_per_1m_out_cached"`
	Window    int64    `json:"context_window"`
	Output    int64    `json:"default_max_tokens"`
	Levels    []string `json:"reasoning_levels"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: modeltable FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "modeltable:", err)
		os.Exit(1)
	}
}

func write(file string) error {
	z, err := download()
	if err != nil {
		return err
	}
	r, err := zip.OpenReader(z)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // it is only read
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s %s: model, context, output, prices (input, cached, written, output), efforts\n", module, version)
	for _, p := range providers {
		f, err := r.Open(path.Join(module+"@"+version, "internal/providers/configs", p.file+".json"))
		if err != nil {
			return err
		}
		var s source
		err = json.NewDecoder(f).Decode(&s)
		_ = f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		section(&out, p.name, &s)
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// download returns the zip file of the source. The module cache has it after the first time. The go command
// also downloads a module that needs a newer version of Go, and reports that as an error.
func download() (file string, err error) {
	cmd := exec.CommandContext(context.Background(), "go", "mod", "download", "-json", module+"@"+version)
	cmd.Dir = os.TempDir() // outside of a module
	text, failed := cmd.Output()
	var d struct{ Zip, Sum, Error string }
	if err := json.Unmarshal(text, &d); err != nil || d.Zip == "" {
		return "", fmt.Errorf("download: %s, %w", d.Error, failed)
	}
	if d.Sum != sum {
		return "", fmt.Errorf("%s %s has the sum %s", module, version, d.Sum)
	}
	return d.Zip, nil
}

// section writes the models of a provider, sorted.
func section(out *bytes.Buffer, name string, s *source) {
	address := ""
	if strings.HasPrefix(s.Endpoint, "https://") {
		address = " " + strings.TrimSuffix(s.Endpoint, "/")
	}
	fmt.Fprintf(out, "[%s%s]\n", name, address)
	slices.SortFunc(s.Models, func(a, b sourceModel) int { return strings.Compare(a.ID, b.ID) })
	for _, m := range s.Models {
		cached, written := m.cachePrices()
		line := fmt.Sprintln(m.ID, m.Window, m.Output, m.In, cached, written, m.Out, strings.Join(m.Levels, ","))
		fmt.Fprintln(out, strings.TrimSpace(line))
	}
}

// cachePrices returns the prices of input that is read from a cache, and written to it; 0: not known. The files have
// them in either order: to read is cheaper than no cache, and to write costs at most double.
func (m *sourceModel) cachePrices() (read, written float64) {
	for _, price := range []float64{m.InCached, m.OutCached} {
		switch {
		case price < m.In:
			read = max(read, price)
		case price <= 2*m.In:
			written = price
		}
	}
	return read, written
}
