package api

import (
	"hash/fnv"
	"io"
	"net/url"
	"reflect"
)

// PageAfter is c as an answer of r to q gives it: it leads on in that list, to pages of the same query. The zero Cursor stays zero.
func (r Route[Query, Answer]) PageAfter(q Query, c Cursor) Cursor { return Endpoint(r).pageAfter(q, c) }

func (e Endpoint) pageAfter(query any, c Cursor) Cursor {
	if !c.IsZero() {
		c.List, c.Query = e.Path, e.queryHash(query)
	}
	return c
}

// CheckCursor notes a cursor in query, which points to a struct, that no answer of e to the same query gave.
func CheckCursor(e Endpoint, query any, wrong Wrong) {
	v := reflect.ValueOf(query).Elem()
	eachParam(v, func(p param, field reflect.Value) {
		c, ok := field.Interface().(Cursor)
		switch {
		case !ok || c.IsZero():
		case c.List != e.Path:
			wrong(p.name, "is of another list, %q: begin again without it", c.List)
		case c.Query != e.queryHash(v.Interface()):
			wrong(p.name, "is of another query of this list: ask as for the page before, or begin again without it")
		}
	})
}

// queryHash tells queries of e, structs, apart, by what all pages of a list have in common.
func (e Endpoint) queryHash(query any) uint32 {
	path, values := e.URL(query)
	eachParam(reflect.ValueOf(query), func(p param, _ reflect.Value) {
		if p.ofPage || p.wait {
			values.Del(p.name)
		}
	})
	h := fnv.New32a()
	_, _ = io.WriteString(h, (&url.URL{Path: path, RawQuery: values.Encode()}).String()) // never fails
	return h.Sum32()
}
