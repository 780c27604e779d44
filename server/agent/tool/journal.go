package tool

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/internal/atomicfile"
)

// A journal records each file change by the tools of one session, in a separate directory. A record
// is written before anything is changed. If the server is killed before the change is complete, the
// next toolbox of the session puts the old files back. Undo restores files from complete records.
type journal struct {
	dir string // empty: nothing is recorded
}

// A record is a change of files.
type record struct {
	Turn  string         `json:"turn"`
	Token string         `json:"token"` // in the names of temporary files
	Files []recordedFile `json:"files"`
}

// A recordedFile is a file of a change, before it and after.
type recordedFile struct {
	Path    string      `json:"path"`
	Existed bool        `json:"existed"`
	Old     []byte      `json:"old,omitempty"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Exists  bool        `json:"exists"`
	New     []byte      `json:"new,omitempty"` // the hash of the new file
}

// The endings of the names of records.
const (
	pendingRecord  = ".pending"
	completeRecord = ".json"
)

const (
	maxRecords  = 50       // of a session
	maxRecorded = 32 << 20 // bytes of the old files of a change
	maxJournal  = 64 << 20 // bytes of the records of a session, the newest always among them
)

// newToken returns a token for the names of temporary files.
func newToken() string { return strings.ToLower(rand.Text()[:12]) }

// begin records a change that is about to be made. The path is empty if nothing is recorded.
func (j journal) begin(turn, token string, set changeSet) (path string, err error) {
	if j.dir == "" {
		return "", nil
	}
	r := record{Turn: turn, Token: token}
	size := 0
	for i := range set {
		c := &set[i]
		hash := c.new.sum()
		r.Files = append(r.Files, recordedFile{
			Path: c.place.real, Existed: c.old.exists, Old: c.old.bytes, Mode: c.old.mode,
			Exists: c.new.exists, New: hash[:],
		})
		size += len(c.old.bytes)
	}
	if size > maxRecorded {
		return "", fmt.Errorf("the files have more than %d MiB together: change them one by one", maxRecorded>>20)
	}
	b, err := json.Marshal(&r)
	if err != nil {
		return "", fmt.Errorf("record the change: %w", err)
	}
	path = filepath.Join(j.dir, fmt.Sprintf("%020d-%s%s", time.Now().UnixNano(), token, pendingRecord))
	if err := j.write(path, b); err != nil {
		return "", fmt.Errorf("record the change: %w", err)
	}
	return path, nil
}

// write creates the file of a record. It is not moved into place: a torn record is as good as no
// record, because nothing is changed before it is synced.
func (j journal) write(path string, b []byte) error {
	if err := atomicfile.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return atomicfile.SyncDir(j.dir)
}

// complete keeps the record of a change that was made, and removes the oldest ones.
func (j journal) complete(path string) error {
	if path == "" {
		return nil
	}
	err := os.Rename(path, strings.TrimSuffix(path, pendingRecord)+completeRecord)
	if err == nil {
		err = atomicfile.SyncDir(j.dir) // else a power cut makes it pending again
	}
	if err != nil {
		return fmt.Errorf("record the change: %w", err)
	}
	j.trim(maxRecords, maxJournal)
	return nil
}

// trim removes the oldest records beyond a number, and beyond a number of bytes. The newest stays.
func (j journal) trim(records int, size int64) {
	names := j.names(completeRecord)
	for i, name := range slices.Backward(names) {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		size -= info.Size()
		if newest := len(names) - 1; i < newest && (i <= newest-records || size < 0) {
			_ = os.Remove(name)
		}
	}
}

// names returns the records with an ending, oldest first.
func (j journal) names(ending string) []string {
	if j.dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(j.dir) // none before the first change
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ending) {
			names = append(names, filepath.Join(j.dir, e.Name()))
		}
	}
	slices.Sort(names)
	return names
}

// errTorn is the error for a record that was not written to its end.
var errTorn = errors.New("the record is torn")

func readRecord(path string) (r record, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%w: %w", errTorn, err)
	}
	return r, nil
}

// recover puts back the files of changes that a killed server left half made. It returns the files
// that it could not put back.
func (b *Toolbox) recover() (lost []string) {
	for _, path := range b.journal.names(pendingRecord) {
		r, err := readRecord(path)
		if errors.Is(err, errTorn) { // the server was killed while it wrote the record: nothing was changed
			_ = os.Remove(path)
			continue
		}
		if err != nil { // the next start tries again
			lost = append(lost, err.Error())
			continue
		}
		_, kept, err := b.restore(&r)
		if err != nil {
			lost = append(lost, err.Error())
			continue
		}
		lost = append(lost, kept...)
		for i := range r.Files {
			if p, err := b.dir.locate(r.Files[i].Path); err == nil && p.real == r.Files[i].Path {
				removeTemporary(&p, r.Token)
			}
		}
		_ = os.Remove(path)
	}
	return lost
}

// removeTemporary removes the temporary files of a change next to a file.
func removeTemporary(p *place, token string) {
	root, err := p.open()
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	dir, err := fs.ReadDir(root.FS(), filepath.ToSlash(filepath.Dir(p.name)))
	if err != nil {
		return
	}
	for _, e := range dir {
		if strings.HasPrefix(e.Name(), temporaryPrefix+token) {
			_ = root.Remove(filepath.Join(filepath.Dir(p.name), e.Name()))
		}
	}
}

// restore puts back the files of a change that still are as it made them. Kept are the others, and
// files whose recorded path leads elsewhere now.
func (b *Toolbox) restore(r *record) (restored, kept []string, err error) {
	var set changeSet
	for _, f := range r.Files {
		p, err := b.dir.locate(f.Path)
		if err != nil || p.real != f.Path {
			kept = append(kept, b.dir.show(f.Path))
			continue
		}
		old := content{exists: f.Existed, bytes: f.Old, mode: f.Mode}
		now, err := p.read()
		hash := now.sum()
		switch {
		case err != nil:
			kept = append(kept, p.shown)
		case now.same(&old): // not changed yet
		case now.exists == f.Exists && (!now.exists || slices.Equal(hash[:], f.New)):
			set = append(set, change{place: p, old: now, new: old})
		default:
			kept = append(kept, p.shown)
		}
	}
	if len(set) == 0 {
		return nil, kept, nil
	}
	if err := set.apply(newToken(), b.files); err != nil {
		return nil, kept, err
	}
	for i := range set {
		b.known.write(&set[i].place, &set[i].new)
		restored = append(restored, set[i].place.shown)
	}
	return restored, kept, nil
}

// Undo implements llm.Toolbox: it restores the files that the tools changed in a turn, the newest
// change first.
func (b *Toolbox) Undo(turn string) (restored, kept []string, err error) {
	names := b.journal.names(completeRecord)
	for _, path := range slices.Backward(names) {
		r, err := readRecord(path)
		if err != nil || r.Turn != turn {
			continue
		}
		did, left, err := b.restore(&r)
		if err != nil {
			return restored, kept, fmt.Errorf("restore files: %w", err)
		}
		restored, kept = append(restored, did...), append(kept, left...)
		_ = os.Remove(path)
	}
	slices.Sort(restored)
	slices.Sort(kept)
	restored, kept = slices.Compact(restored), slices.Compact(kept)
	restored = slices.DeleteFunc(restored, func(name string) bool { return slices.Contains(kept, name) })
	return restored, kept, nil
}
