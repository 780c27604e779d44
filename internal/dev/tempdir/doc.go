// Package tempdir chooses where tests have their temporary files. It must not know what the tests do.
package tempdir
