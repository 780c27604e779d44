// Command release writes the files of a release about what is compiled into a binary: the licences
// of the standard library and of every module, and a software bill of materials in the format
// CycloneDX 1.6. It reads the modules from the build information of the binary, their licences from
// the module cache, and knows no package of the product. The same binary gives the same files.
package main
