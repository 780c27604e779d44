package retired

// Names lists all retired names. A row stays for ever: files of users outlive versions.
var Names = []Name{}
