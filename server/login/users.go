package login

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"agentctl/protocol"
)

const maxName = 128 // bytes of a user's name

// Users are who may log in, by name.
type Users map[string]user

type user struct {
	password hash
	role     protocol.Role
}

// A Line is a user as the users file has one: the hash of a password, and what the user may do.
type UserEntry struct {
	Password string        `json:"password"`
	Role     protocol.Role `json:"role"`
}

// ReadUsers reads a users file: JSON, {"ada": {"password": HASH, "role": "approver"}, …}, with what Hash makes of a password. Its
// errors say what is wrong in it, and never repeat a password.
func ReadUsers(file []byte) (Users, error) {
	lines, err := ReadUserEntries(file)
	if err != nil {
		return nil, err
	}
	users := Users{}
	for name, line := range lines {
		h, _ := parseHash(line.Password) // checked
		users[name] = user{h, line.Role}
	}
	return users, nil
}

// ReadUserEntries reads a users file to be written again with another line.
func ReadUserEntries(file []byte) (map[string]UserEntry, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("read users: not a JSON object")
	}
	lines := map[string]UserEntry{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read users: %w", err)
		}
		name := key.(string) // of an object
		if _, twice := lines[name]; twice {
			return nil, fmt.Errorf("read users: %q is there twice", name)
		}
		var l UserEntry
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("read users: %q: %w", name, err)
		}
		if err := l.check(name); err != nil {
			return nil, fmt.Errorf("read users: %w", err)
		}
		lines[name] = l
	}
	if _, err := d.Token(); err != nil { // its end
		return nil, fmt.Errorf("read users: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("read users: more than one JSON value")
	}
	return lines, nil
}

func (l *UserEntry) check(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("a name has 1 to %d bytes", maxName)
	}
	if _, err := parseHash(l.Password); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	if !slices.Contains(protocol.Roles, l.Role) {
		return fmt.Errorf("%q: role %q is none of %v", name, l.Role, protocol.Roles)
	}
	return nil
}

// nobody is who is checked in place of an unknown user, so that it takes as long.
var nobody = user{password: hash{rounds: rounds, salt: make([]byte, 16), key: make([]byte, keyBytes)}}

// check returns the role of a user with that password.
func (u Users) check(name, password string) (protocol.Role, bool) {
	who, known := u[name]
	if !known {
		who = nobody
	}
	fits := who.password.fits(password)
	return who.role, known && fits
}
