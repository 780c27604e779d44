package localserver

import (
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
	"agentctl/server/login"
)

// A TokenRecord describes a credential that was made on the data directory, without the credential
// itself. Each has a file in the directory "tokens", so that two programs never write the same one.
type TokenRecord struct {
	ID      string     `json:"id"`
	Subject string     `json:"subject"`
	Role    string     `json:"role"`
	Session string     `json:"session,omitempty"` // the only one it is for
	Created time.Time  `json:"created"`
	Expires time.Time  `json:"expires"`
	Revoked *time.Time `json:"revoked,omitempty"` // nil: it is valid

	// Problem is why the record cannot be read: it may be of a revoked credential, so that the
	// credential is refused. Empty: it is read.
	Problem string `json:"problem,omitempty"`
}

// ErrNoToken is the error for an id without a record.
var ErrNoToken = errors.New("no credential with that id was made here")

// SaveToken writes a record. It replaces an earlier one with the same id.
func (d Dir) SaveToken(t TokenRecord) error {
	if err := os.MkdirAll(d.Path("tokens"), 0o700); err != nil {
		return fmt.Errorf("record credential: %w", err)
	}
	b, err := json.Marshal(t)
	if err == nil {
		err = atomicfile.Write(d.tokenPath(t.ID), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record credential: %w", err)
	}
	return nil
}

func (d Dir) tokenPath(id string) string { return filepath.Join(d.Path("tokens"), id+".json") }

// Tokens returns the records of credentials that have not expired, oldest first, and those that
// cannot be read. It deletes the records of expired ones.
func (d Dir) Tokens() ([]TokenRecord, error) {
	entries, err := os.ReadDir(d.Path("tokens"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	var list []TokenRecord
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(id, ".") { // a temporary file
			continue
		}
		t, err := d.token(id)
		if errors.Is(err, fs.ErrNotExist) { // deleted since it was listed
			continue
		}
		if err != nil {
			list = append(list, TokenRecord{ID: id, Problem: err.Error()})
			continue
		}
		if time.Now().After(t.Expires) {
			_ = removeFile(d.tokenPath(id)) // tried again by the next call
			continue
		}
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b TokenRecord) int { return a.Created.Compare(b.Created) })
	return list, nil
}

func (d Dir) token(id string) (t TokenRecord, err error) {
	b, err := os.ReadFile(d.tokenPath(id))
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err == nil && t.ID != id {
		err = fmt.Errorf("the record is of %q", t.ID)
	}
	if err != nil {
		return t, fmt.Errorf("read credential %s: %w", d.tokenPath(id), err)
	}
	return t, nil
}

// RevokeToken marks a credential as revoked. A running server ends it within seconds. It replaces a
// record that cannot be read.
func (d Dir) RevokeToken(id string) error {
	list, err := d.Tokens()
	if err != nil {
		return err
	}
	for _, t := range list {
		if t.ID != id {
			continue
		}
		now := time.Now().UTC()
		if t.Problem != "" {
			t = TokenRecord{ID: id, Created: now, Expires: now.Add(login.MaxTokenTTL)} // its own expiry is not known
		}
		t.Revoked = &now
		return d.SaveToken(t)
	}
	return ErrNoToken
}

// RevokedTokens returns the ids of credentials that are refused, and why some of their records
// cannot be read.
func (d Dir) RevokedTokens() (revoked map[string]bool, problems []string, err error) {
	list, err := d.Tokens()
	revoked = map[string]bool{}
	for _, t := range list {
		revoked[t.ID] = t.Revoked != nil || t.Problem != ""
		if t.Problem != "" {
			problems = append(problems, t.Problem)
		}
	}
	return revoked, problems, err
}
