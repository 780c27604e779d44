package login

import (
	"bytes"
	"encoding/json"
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

// ReadUsers reads a users file: JSON, {"ada": {"password": HASH, "role": "approver"}, …}, with what Hash makes of a password. Its
// errors say what is wrong in it.
func ReadUsers(file []byte) (Users, error) {
	var written map[string]struct {
		Password string        `json:"password"`
		Role     protocol.Role `json:"role"`
	}
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	if err := d.Decode(&written); err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("read users: more than one JSON value")
	}
	users := Users{}
	for name, w := range written {
		h, err := parseHash(w.Password)
		switch {
		case name == "" || len(name) > maxName:
			return nil, fmt.Errorf("read users: a name has 1 to %d bytes", maxName)
		case err != nil:
			return nil, fmt.Errorf("read users: %s: %w", name, err)
		case !slices.Contains(protocol.Roles, w.Role):
			return nil, fmt.Errorf("read users: %s: role %q is none of %v", name, w.Role, protocol.Roles)
		}
		users[name] = user{h, w.Role}
	}
	return users, nil
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
