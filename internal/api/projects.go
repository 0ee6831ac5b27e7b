package api

import (
	"time"

	"github.com/cmemd/cmemd/events"
)

// The routes of which folders are one project.
var (
	ProjectsRoute = Route[NoQuery, Projects]{get, "/v1/projects", ScopeView, "which folders are one project, and which names have none"}
	JoinRoute     = Route[JoinRequest, ProjectDecided]{post, "/v1/projects/join", ScopePerson, "makes a folder one of a project"}
	PartRoute     = Route[PartRequest, ProjectDecided]{post, "/v1/projects/part", ScopePerson, "makes a folder a project of its own"}
	GiveRoute     = Route[GiveRequest, ProjectDecided]{post, "/v1/projects/give", ScopePerson, "says whose the memory of a name without a folder is"}
)

// Projects is what is known of projects.
type Projects struct {
	Position events.Position `json:"position"`
	Projects []ProjectInfo   `json:"projects"` // the one used last first; never null
	Names    []ProjectName   `json:"names"`    // that memory without a folder has; never null
}

// ProjectInfo is one project.
type ProjectInfo struct {
	Name    string          `json:"name"` // shown: of the folder used last
	Key     string          `json:"key"`
	Folders []ProjectFolder `json:"folders"`         // the one used last first; never null
	Names   []string        `json:"names,omitempty"` // that were given to it
}

// ProjectFolder is a folder of a project.
type ProjectFolder struct {
	Root         string    `json:"root"`
	Name         string    `json:"name,omitempty"`          // shown
	At           time.Time `json:"at,omitzero"`             // when its latest session was opened
	Decided      bool      `json:"decided,omitempty"`       // a person said that it is of this project, or that it is one of its own
	Gone         bool      `json:"gone,omitempty"`          // there is no such folder any more
	LooksLike    []string  `json:"looks_like,omitempty"`    // folders of the project that it claims to be, and is kept apart from
	JoinedBefore bool      `json:"joined_before,omitempty"` // an earlier release joined it to others, and nobody was notified since
	Shown        string    `json:"shown,omitempty"`         // of another machine's folder: that machine's name, a colon, and its path there; JoinRoute takes it
}

// ProjectName is a name that memory without a folder has.
type ProjectName struct {
	Name    string   `json:"name"`
	Rows    int      `json:"rows"`
	Folder  string   `json:"folder,omitempty"`  // that it was given to
	Folders []string `json:"folders,omitempty"` // that are called so
}

// ProjectCounts is how many folders stand so among projects.
type ProjectCounts struct {
	Projects     int `json:"projects"`
	Folders      int `json:"folders"`
	Apart        int `json:"apart"`         // that claim to be a project of other folders, and are kept apart
	JoinedBefore int `json:"joined_before"` // that an earlier release joined to others, of which nobody was notified since
	Names        int `json:"names"`         // that memory without a folder has, and that were given to none
}

// JoinRequest makes a folder one of a project.
type JoinRequest struct {
	Folder  string `json:"folder"`            // an absolute path, of any folder of it
	Project string `json:"project,omitempty"` // a folder of the project, its key, or its name; empty: the one that Folder claims to be
}

// PartRequest makes a folder a project of its own.
type PartRequest struct {
	Folder string `json:"folder"` // an absolute path, of any folder of it
}

// GiveRequest says whose the memory is that has a project's name and no folder.
type GiveRequest struct {
	Name   string `json:"name"`
	Folder string `json:"folder,omitempty"` // an absolute path, of any folder of the project; empty: it is nobody's again
}

// ProjectDecided is what a person's word about a project led to.
type ProjectDecided struct {
	Position events.Position `json:"position"`
	Root     string          `json:"root,omitempty"` // of the folder that it is about
	Project  *ProjectInfo    `json:"project,omitempty"`
}
