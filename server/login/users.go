package login

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"agentctl/protocol"
)

const maxName = 128 // bytes of a user's name

// Users are the users of a server, by name.
type Users map[string]user

type user struct {
	password hash
	role     protocol.Role
}

// A UserEntry is one user in a users file.
type UserEntry struct {
	Password string        `json:"password"` // hash, from HashPassword
	Role     protocol.Role `json:"role"`
}

// ReadUsers parses a users file: {"ada": {"password": HASH, "role": "approver"}, …}. Its errors
// never contain a password.
func ReadUsers(file []byte) (Users, error) {
	entries, err := ReadUserEntries(file)
	if err != nil {
		return nil, err
	}
	users := Users{}
	for name, e := range entries {
		h, _ := parseHash(e.Password) // checked by ReadUserEntries
		users[name] = user{h, e.Role}
	}
	return users, nil
}

// ReadUserEntries parses a users file into its entries, by name, to be changed and written again.
func ReadUserEntries(file []byte) (map[string]UserEntry, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("read users: not a JSON object")
	}
	entries := map[string]UserEntry{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read users: %w", err)
		}
		name := key.(string) // a key of an object
		if _, duplicate := entries[name]; duplicate {
			return nil, fmt.Errorf("read users: duplicate user %q", name)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, fmt.Errorf("read users: %q: %w", name, err)
		}
		var e UserEntry
		if err := protocol.DecodeStrict(raw, &e); err != nil {
			return nil, fmt.Errorf("read users: %q: %w", name, err)
		}
		if err := e.validate(name); err != nil {
			return nil, fmt.Errorf("read users: %w", err)
		}
		entries[name] = e
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return nil, fmt.Errorf("read users: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("read users: more than one JSON value")
	}
	return entries, nil
}

func (e *UserEntry) validate(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a name has 1 to %d bytes", maxName)
	}
	if _, err := parseHash(e.Password); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	if !slices.Contains(protocol.Roles, e.Role) {
		return fmt.Errorf("%q: invalid role %q: want one of %v", name, e.Role, protocol.Roles)
	}
	return nil
}

// check reports whether a user has a password. It takes as long for an unknown user.
func (u Users) check(name, password string) bool {
	user, known := u[name]
	if !known {
		user.password = u.dummy(name)
	}
	matches := user.password.matches(password)
	return known && matches
}

// dummy returns a hash to be checked instead of an unknown user's. It has the rounds of one of the
// users, always the same for a name, so that the time of an answer does not show whether the user
// exists.
func (u Users) dummy(name string) hash {
	h := hash{rounds: rounds, salt: make([]byte, 16), key: make([]byte, keyBytes)}
	if len(u) > 0 {
		sum := sha256.Sum256([]byte(name))
		names := slices.Sorted(maps.Keys(u))
		h.rounds = u[names[binary.BigEndian.Uint64(sum[:])%uint64(len(names))]].password.rounds
	}
	return h
}
