package layout

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What initialising all packages, and any single one, may allocate before main. Every verb pays it, and unlike its time it
// is the same on every machine.
const (
	initBytes        = 1 << 20
	initAllocs       = 8000
	initPackageBytes = 192 << 10
)

// slow are packages whose initialisation alone is felt: what needs them loads its data on first use instead.
var slow = []string{
	"github.com/charmbracelet/glamour/...", "charm.land/glamour/...", "github.com/alecthomas/chroma/v2/lexers/...",
	"github.com/alecthomas/chroma/v2/styles/...",
}

// floors are the versions below which a module spends its initialisation in loops that allocate nothing.
var floors = map[string]string{
	"github.com/mattn/go-runewidth": "v0.0.31", // before: a table of all runes, tens of milliseconds
}

// initCost is one line of GODEBUG=inittrace=1.
type initCost struct {
	pkg           string
	bytes, allocs int
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, (\d+) allocs$`)

func readInits(trace string) ([]initCost, error) {
	var costs []initCost
	for _, m := range initLine.FindAllStringSubmatch(trace, -1) {
		bytes, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, fmt.Errorf("read bytes of %s: %w", m[1], err)
		}
		allocs, err := strconv.Atoi(m[3])
		if err != nil {
			return nil, fmt.Errorf("read allocs of %s: %w", m[1], err)
		}
		costs = append(costs, initCost{m[1], bytes, allocs})
	}
	return costs, nil
}

// overspent returns what of the costs is over its bound, one sentence each.
func overspent(costs []initCost) []string {
	var found []string
	var bytes, allocs int
	for _, c := range costs {
		bytes += c.bytes
		allocs += c.allocs
		if matchAny(slow, c.pkg) {
			found = append(found, c.pkg+": slow to initialise, must not be linked in")
		}
		if c.bytes > initPackageBytes {
			found = append(found, fmt.Sprintf("%s: allocates %d bytes before main, more than %d", c.pkg, c.bytes, initPackageBytes))
		}
	}
	if bytes > initBytes || allocs > initAllocs {
		found = append(found, fmt.Sprintf("all packages: %d bytes in %d allocations before main, more than %d in %d",
			bytes, allocs, initBytes, initAllocs))
	}
	return found
}

// outdated returns the modules of a binary that are below their floor, one sentence each.
func outdated(modules []*debug.Module) []string {
	var found []string
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		if floor, ok := floors[m.Path]; ok && compareVersions(m.Version, floor) < 0 {
			found = append(found, fmt.Sprintf("%s: linked in at %s, slow to initialise below %s", m.Path, m.Version, floor))
		}
	}
	return found
}

// compareVersions compares versions of the form vX.Y.Z by their numbers.
func compareVersions(a, b string) int {
	return slices.CompareFunc(numbers(a), numbers(b), cmp.Compare)
}

func numbers(version string) []int {
	var ns []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		n, _ := strconv.Atoi(part) // a pre-release counts as 0
		ns = append(ns, n)
	}
	return ns
}

func TestStartUpIsCheap(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "agentctl.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/agentctl")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	version := exec.CommandContext(t.Context(), bin, "version")
	version.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	version.Stderr = &trace
	if err := version.Run(); err != nil {
		t.Fatalf("agentctl version: %v\n%s", err, trace.String())
	}
	costs, err := readInits(trace.String())
	if err != nil {
		t.Fatal(err)
	}
	if len(costs) == 0 {
		t.Fatalf("no package in the trace:\n%s", trace.String())
	}
	for _, breach := range overspent(costs) {
		t.Error(breach)
	}
	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, breach := range outdated(info.Deps) {
		t.Error(breach)
	}
}

func TestExpensiveStartUpIsCaught(t *testing.T) {
	costs, err := readInits(strings.Join([]string{
		"init os @0.89 ms, 0.022 ms clock, 432 bytes, 9 allocs",
		"a word of the program itself",
		"init github.com/alecthomas/chroma/v2/lexers @1.2 ms, 30 ms clock, 100 bytes, 762 allocs",
		"init example.com/greedy @1.7 ms, 0.045 ms clock, 1048576 bytes, 276 allocs",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"github.com/alecthomas/chroma/v2/lexers: slow to initialise, must not be linked in",
		"example.com/greedy: allocates 1048576 bytes before main, more than 196608",
		"all packages: 1049108 bytes in 1047 allocations before main, more than 1048576 in 8000",
	}
	if got := overspent(costs); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSlowVersionIsCaught(t *testing.T) {
	const path = "github.com/mattn/go-runewidth"
	for version, want := range map[string]int{"v0.0.9": 1, "v0.0.27": 1, "v0.0.31": 0, "v0.1.0": 0, "v1.0.0": 0} {
		if got := outdated([]*debug.Module{{Path: path, Version: version}, {Path: "other", Version: "v0.0.1"}}); len(got) != want {
			t.Errorf("%s: %q", version, got)
		}
	}
}
