// Package provider makes models from the configuration of providers: the API, the address, the key,
// headers, limits and prices.
//
// It owns the names of models and the source of keys. It knows no session. Each API has a package
// below it.
package provider
