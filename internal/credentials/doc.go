// Package credentials owns what a user of another server needs to get in: the login with a
// password, the store of credentials it returned, the password prompt, and the file of users of a
// server here. It must not know any verb; what a credential permits is the server's business.
package credentials
