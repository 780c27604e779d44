package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestWriteReplacesTheWholeContent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.json")
	for _, content := range []string{"a longer content", "short", ""} {
		if err := Write(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		checkFile(t, path, content)
	}
}

func TestWriteSetsTheModeWhateverTheUmask(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	path := filepath.Join(t.TempDir(), "file")
	for _, mode := range []os.FileMode{0o600, 0o666, 0o640} {
		if err := Write(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("got %v, %v, want %v", info.Mode(), err, mode)
		}
	}
}

func TestAFailedWriteKeepsTheFileAndLeavesNoOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, []byte("former"), 0o600); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("failure")
	err := WriteFunc(path, 0o600, func(f *os.File) error {
		if _, err := f.WriteString("new"); err != nil {
			t.Error(err)
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	checkFile(t, path, "former")
}

func TestADirectoryIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "directory")
	if err := os.MkdirAll(filepath.Join(path, "child"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new"), 0o600); err == nil {
		t.Error("a directory is replaced")
	}
	checkNames(t, dir, "directory")
}

func TestALinkIsReplaced(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(t.TempDir(), "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("former"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip(err)
	}
	if err := Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFile(t, path, "new")
	checkFile(t, target, "former")
}

func TestAFileInTheWorkingDirectoryNeedsNoDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := Write("file", []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFile(t, filepath.Join(dir, "file"), "new")
}

func TestTheLongestNameIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 255))
	if err := Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFile(t, path, "new")
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "missing", "file"), nil, 0o600); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want a missing directory", err)
	}
}

// checkFile checks the content of the only file in a directory.
func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: got %q, %v, want %q", filepath.Base(path), got, err, want)
	}
	checkNames(t, filepath.Dir(path), filepath.Base(path))
}

func checkNames(t *testing.T, dir, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != want {
		t.Errorf("the directory has %v, %v, want %s alone", entries, err, want)
	}
}

func TestMkdirAllMakesWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(filepath.Join(dir, "file", "b"), 0o700); err == nil {
		t.Error("a directory was made in a file")
	}
}

func TestTheFirstOfSeveralCreatesWins(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	errs := make([]error, 20)
	var writers sync.WaitGroup
	for i := range errs {
		writers.Go(func() { errs[i] = Create(path, []byte{byte(i)}, 0o600) })
	}
	writers.Wait()
	winners := 0
	for i, err := range errs {
		switch {
		case err == nil:
			winners++
			checkFile(t, path, string([]byte{byte(i)}))
		case !errors.Is(err, fs.ErrExist):
			t.Error(err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || winners != 1 {
		t.Errorf("%d winners, %d files, %v", winners, len(files), err)
	}
}
