package events

// ProjectJoined is a person's word that a folder is of a project. It holds whatever the folder's sessions say, until the next word.
type ProjectJoined struct {
	Root string `cbor:"1,keyasint,omitempty" json:"root"` // as SessionOpened.ProjectRoot
	Key  string `cbor:"2,keyasint,omitempty" json:"key"`  // of the project, as SessionOpened.ProjectKey
}

// ProjectParted is a person's word that a folder is a project of its own. It holds as ProjectJoined does.
type ProjectParted struct {
	Root string `cbor:"1,keyasint,omitempty" json:"root"`
}

// ProjectGiven is a person's word whose memory it is that has a project's name and no folder.
type ProjectGiven struct {
	Name string `cbor:"1,keyasint,omitempty" json:"name"`           // shown name
	Root string `cbor:"2,keyasint,omitempty" json:"root,omitempty"` // of the project; empty: nobody's again
}
