package hook

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentctl/protocol"
)

const (
	tokenBytes    = 16               // of the random part of a link
	pruneInterval = 10 * time.Minute // between two looks for expired links
)

// linkStore keeps links in files named by the hash of their token, so that the directory does not
// help to use one. Its methods may be called from any goroutine.
type linkStore struct {
	dir string

	mu     sync.Mutex
	pruned time.Time
}

// A link allows one decision of one request: the one with the digest.
type link struct {
	Hook    string `json:"hook"`
	Session string `json:"session"`
	Request string `json:"request"`
	Digest  string `json:"digest"`
	use
	Expires time.Time `json:"expires"`
	Others  []string  `json:"others"` // hashes of all links of this notification
}

// A use is the decision that a link makes, with an answer if the request is a question.
type use struct {
	Decision protocol.Decision `json:"decision"`
	Question string            `json:"question,omitempty"`
	Choice   string            `json:"choice,omitempty"` // of the question
	Label    string            `json:"label,omitempty"`  // of the choice
	Form     bool              `json:"form,omitempty"`   // the answers come from the page of the link
}

func (u *use) input() *protocol.ApprovalInput {
	if u.Choice == "" {
		return nil
	}
	return &protocol.ApprovalInput{Answers: map[string][]string{u.Question: {u.Choice}}}
}

// errNoLink is returned for a link that is unknown, used or expired, without distinction.
var errNoLink = errors.New("this link was used, has expired, or never was valid")

// create stores a link for each use and returns their tokens. After an error no link is valid.
func (s *linkStore) create(l link, uses []use) ([]string, error) {
	s.prune(time.Now())
	tokens := make([]string, len(uses))
	for i := range uses {
		b := make([]byte, tokenBytes)
		_, _ = rand.Read(b) // never fails
		tokens[i] = hex.EncodeToString(b)
		l.Others = append(l.Others, hashToken(tokens[i]))
	}
	for i := range uses {
		l.use = uses[i]
		if err := os.WriteFile(s.path(hashToken(tokens[i])), protocol.MustEncode(l), 0o600); err != nil {
			return nil, fmt.Errorf("create link: %w", err)
		}
	}
	return tokens, nil
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func (s *linkStore) path(hash string) string { return filepath.Join(s.dir, hash) }

// find returns the link of a token.
func (s *linkStore) find(token string, now time.Time) (*link, error) {
	b, err := os.ReadFile(s.path(hashToken(token)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoLink
	}
	if err != nil {
		return nil, fmt.Errorf("read link: %w", err)
	}
	l := new(link)
	if err := json.Unmarshal(b, l); err != nil || !now.Before(l.Expires) { // torn, or too old
		return nil, errNoLink
	}
	return l, nil
}

// remove removes all links of a notification.
func (s *linkStore) remove(l *link) error {
	var errs []error
	for _, hash := range l.Others {
		if err := os.Remove(s.path(hash)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// prune removes expired links, every pruneInterval.
func (s *linkStore) prune(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.pruned) < pruneInterval {
		return
	}
	s.pruned = now
	files, _ := os.ReadDir(s.dir)
	for _, f := range files {
		var l link
		if b, err := os.ReadFile(s.path(f.Name())); err == nil &&
			(json.Unmarshal(b, &l) != nil || !now.Before(l.Expires)) {
			_ = os.Remove(s.path(f.Name()))
		}
	}
}
