package login

import "errors"

// Reasons for the end of a token before it expires.
var (
	ErrRevoked     = errors.New("the credential was revoked")
	ErrRoleChanged = errors.New("the role of the user has changed")
)

// A policy decides which tokens are valid. It is immutable.
type policy struct {
	users   Users
	keys    Keys
	revoked map[string]bool // ids of tokens
}

// check returns why an identity is no longer valid, or nil. It does not check the expiry.
func (p *policy) check(id *Identity) error {
	if p.revoked[id.token] || p.keys.find(id.key) == nil {
		return ErrRevoked
	}
	if id.made {
		return nil
	}
	switch u, known := p.users[id.By.Subject]; {
	case !known || u.password.version() != id.password:
		return ErrRevoked
	case u.role != id.Role:
		return ErrRoleChanged
	}
	return nil
}

// SetUsers replaces the users. Tokens of users who were removed or got another password end.
func (a *Authenticator) SetUsers(u Users) { a.change(func(p *policy) { p.users = u }) }

// SetKeys replaces the keys. Tokens of keys that were removed end.
func (a *Authenticator) SetKeys(k Keys) { a.change(func(p *policy) { p.keys = k }) }

// SetRevoked replaces the ids of revoked tokens, which end.
func (a *Authenticator) SetRevoked(ids map[string]bool) {
	a.change(func(p *policy) { p.revoked = ids })
}

func (a *Authenticator) policy() *policy {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current
}

// change replaces the policy and ends the identities that it does not accept.
func (a *Authenticator) change(f func(*policy)) {
	a.mu.Lock()
	next := *a.current
	f(&next)
	a.current = &next
	ended := map[*watch]error{}
	for w := range a.watches {
		if err := next.check(&w.id); err != nil {
			delete(a.watches, w)
			ended[w] = err
		}
	}
	a.mu.Unlock()
	for w, err := range ended {
		w.ended(err)
	}
}

// A watch waits for the end of an identity.
type watch struct {
	id    Identity
	ended func(error)
}

// Watch calls ended once, with the reason, when the identity ends before it expires; immediately if
// it has ended. ended must not block. stop ends the watch; a concurrent call may still follow.
func (a *Authenticator) Watch(id Identity, ended func(error)) (stop func()) {
	w := &watch{id, ended}
	a.mu.Lock()
	err := a.current.check(&id)
	if err == nil {
		a.watches[w] = true
	}
	a.mu.Unlock()
	if err != nil {
		ended(err)
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watches, w)
	}
}
