package config

import "reflect"

// RestartFor returns the keys of the values that differ in next and that a running server does not
// take over.
func (c *Server) RestartFor(next *Server) (keys []string) {
	for _, v := range []struct {
		key       string
		old, next any
	}{
		{"users", c.Users, next.Users},
		{"state_secret", c.StateSecret, next.StateSecret},
		{"state_keys", c.StateKeys, next.StateKeys},
		{"sync", c.Sync, next.Sync},
		{"tls", c.TLS, next.TLS},
		{"retention", c.Retention, next.Retention},
		{"dialects", c.Dialects, next.Dialects},
	} {
		if !reflect.DeepEqual(v.old, v.next) {
			keys = append(keys, v.key)
		}
	}
	return keys
}
