package layout

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentctl/internal/dev/testbinary"
)

// Limits of the allocations before main. Every verb pays for them, and unlike the time they are the
// same on every machine.
const (
	maxInitBytes        = 896 << 10
	maxInitAllocs       = 6800
	maxPackageInitBytes = 160 << 10
)

// slowPackages take noticeable time to initialise. Code that needs them loads its data on first
// use.
var slowPackages = []string{
	"github.com/charmbracelet/glamour/...", "charm.land/glamour/...",
	"github.com/alecthomas/chroma/v2/lexers/...", "github.com/alecthomas/chroma/v2/styles/...",
}

// minVersions are the versions below which the initialisation of a module takes time without
// allocating.
var minVersions = map[string]string{
	"github.com/mattn/go-runewidth": "v0.0.31", // older ones fill a table of all runes: tens of milliseconds
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

// initViolations returns one sentence for each limit that the costs exceed.
func initViolations(costs []initCost) []string {
	var found []string
	var bytes, allocs int
	for _, c := range costs {
		bytes += c.bytes
		allocs += c.allocs
		if matchAny(slowPackages, c.pkg) {
			found = append(found, c.pkg+": slow to initialise, must not be linked in")
		}
		if c.bytes > maxPackageInitBytes {
			found = append(found, fmt.Sprintf("%s: allocates %d bytes before main, more than %d",
				c.pkg, c.bytes, maxPackageInitBytes))
		}
	}
	if bytes > maxInitBytes || allocs > maxInitAllocs {
		found = append(found, fmt.Sprintf("all packages: %d bytes in %d allocations before main, more than %d in %d",
			bytes, allocs, maxInitBytes, maxInitAllocs))
	}
	return found
}

// versionViolations returns one sentence for each module of a binary that is older than its
// minimum.
func versionViolations(modules []*debug.Module) []string {
	var found []string
	for _, m := range modules {
		if m.Replace != nil {
			m = m.Replace
		}
		if minimum, ok := minVersions[m.Path]; ok && compareVersions(m.Version, minimum) < 0 {
			found = append(found, fmt.Sprintf("%s: linked in at %s, slow to initialise below %s",
				m.Path, m.Version, minimum))
		}
	}
	return found
}

// compareVersions compares versions of the form vX.Y.Z by their numbers.
func compareVersions(a, b string) int {
	return slices.CompareFunc(versionNumbers(a), versionNumbers(b), cmp.Compare)
}

func versionNumbers(version string) []int {
	var ns []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		n, _ := strconv.Atoi(part) // a pre-release counts as 0
		ns = append(ns, n)
	}
	return ns
}

func TestStartUpIsCheap(t *testing.T) {
	bin, err := testbinary.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
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
	for _, v := range initViolations(costs) {
		t.Error(v)
	}
	info, err := buildinfo.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versionViolations(info.Deps) {
		t.Error(v)
	}
}

func TestExpensiveStartUpIsCaught(t *testing.T) {
	costs, err := readInits(strings.Join([]string{
		"init os @0.89 ms, 0.022 ms clock, 432 bytes, 9 allocs",
		"output of the program",
		"init github.com/alecthomas/chroma/v2/lexers @1.2 ms, 30 ms clock, 100 bytes, 762 allocs",
		"init example.com/greedy @1.7 ms, 0.045 ms clock, 1048576 bytes, 276 allocs",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"github.com/alecthomas/chroma/v2/lexers: slow to initialise, must not be linked in",
		"example.com/greedy: allocates 1048576 bytes before main, more than 163840",
		"all packages: 1049108 bytes in 1047 allocations before main, more than 917504 in 6800",
	}
	if got := initViolations(costs); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSlowVersionIsCaught(t *testing.T) {
	const path = "github.com/mattn/go-runewidth"
	for version, want := range map[string]int{"v0.0.9": 1, "v0.0.27": 1, "v0.0.31": 0, "v0.1.0": 0, "v1.0.0": 0} {
		modules := []*debug.Module{{Path: path, Version: version}, {Path: "other", Version: "v0.0.1"}}
		if got := versionViolations(modules); len(got) != want {
			t.Errorf("%s: %q", version, got)
		}
	}
}
