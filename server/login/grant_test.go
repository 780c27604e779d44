package login

import (
	"testing"
	"time"

	"agentctl/protocol"
)

func TestAGrantHoldsWhileItsUserOrTokenMaySend(t *testing.T) {
	a := newTestAuthenticator(t)
	now := time.Now()
	a.now = func() time.Time { return now }
	users := a.policy().users
	bob := verified(t, a, userToken(t, a, "bob"))
	ofUser := bob.Grant()
	made, err := a.NewToken(TokenRequest{Subject: "ci", Role: protocol.RoleOperator, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	id := verified(t, a, made.Signed)
	ofToken := id.Grant()
	check := func(when string, user, token bool) {
		t.Helper()
		if got := a.Permits(ofUser, protocol.DoSend); got != user {
			t.Errorf("%s: the user may: %v", when, got)
		}
		if got := a.Permits(ofToken, protocol.DoSend); got != token {
			t.Errorf("%s: the token may: %v", when, got)
		}
	}
	operator := user{users["bob"].password, protocol.RoleOperator}
	a.SetUsers(Users{"bob": operator})
	check("now", true, true)
	a.SetRevoked(map[string]bool{made.ID: true, bob.token: true})
	check("tokens revoked", true, false)
	a.SetRevoked(nil)
	now = now.Add(48 * time.Hour)
	check("tokens expired", true, false)
	a.SetUsers(Users{"bob": {operator.password, protocol.RoleObserver}})
	check("an observer", false, false)
	a.SetUsers(nil)
	check("removed", false, false)
	if a.Permits(nil, protocol.DoSend) || a.Permits([]byte(`{}`), protocol.DoSend) {
		t.Error("nothing permits")
	}
}
