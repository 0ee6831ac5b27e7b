package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strconv"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/sleep"
	"github.com/cmemd/cmemd/testkit/embeddings"
)

// meaning says where vectors come from; the zero value: there are none.
type meaning struct {
	url, model string
	floor      int // embeddings_floor; below 0: its default
}

const (
	// local is the address of the endpoint that knows no more of meaning than it counts in the documents; see testkit/embeddings.
	local      = "local"
	localModel = "counted"

	// keyVariable holds the endpoint's key, if it wants one.
	keyVariable = "EMBEDDINGS_KEY"

	// questionWait is how long a question waits for its vector: what is measured is what is found, not how soon.
	questionWait = "30s"

	// fillEvery is how often it is looked whether they have.
	fillEvery = 20 * time.Millisecond

	// fillWait is how long documents may take to get theirs, since the last that got one.
	fillWait = time.Minute
)

func (m meaning) used() bool { return m.url != "" }

// says names what the vectors were made by; empty: there were none.
func (m meaning) says() string {
	switch m.url {
	case "":
		return ""
	case local:
		return localModel + " in the documents themselves: words by their letters and their company, no language model"
	}
	return m.model
}

// begin returns the settings of a daemon that makes vectors of docs. End lets go of what that needs.
func (m meaning) begin(docs []doc) (settings []string, end func()) {
	if !m.used() {
		return nil, func() {}
	}
	url, model, end := m.url, m.model, func() {}
	if url == local {
		texts := make([]string, len(docs))
		for i, d := range docs {
			texts[i] = d.Text
		}
		s := httptest.NewServer(embeddings.New(texts))
		url, model, end = s.URL+"/v1", localModel, s.Close
	}
	settings = []string{"CMEMD_EMBEDDINGS_URL=" + url, "CMEMD_EMBEDDINGS_MODEL=" + model, "CMEMD_EMBEDDINGS_TIMEOUT=" + questionWait}
	if os.Getenv(keyVariable) != "" {
		settings = append(settings, "CMEMD_EMBEDDINGS_KEY_ENV="+keyVariable)
	}
	if m.floor >= 0 {
		settings = append(settings, "CMEMD_EMBEDDINGS_FLOOR="+strconv.Itoa(m.floor))
	}
	return settings, end
}

// filled returns when each of n documents has its vector.
func filled(ctx context.Context, c *client.Client, n int, m meter) error {
	bar := m.bar("embedding", n)
	for have, since := 0, time.Now(); ; {
		st, err := api.StatusRoute.Call(ctx, c, api.NoQuery{})
		if err != nil {
			return err
		}
		if st.Vectors == nil {
			return fmt.Errorf("the daemon makes no vectors")
		}
		if st.Vectors.Filled == n {
			return nil
		}
		if st.Vectors.Filled > have {
			have, since = st.Vectors.Filled, time.Now()
			_ = bar.Set(have) // a display only
		}
		if time.Since(since) > fillWait {
			return fmt.Errorf("%d of %d documents have a vector, and none came in the last %s: %s", have, n, fillWait, st.Vectors.Paused)
		}
		if err := sleep.For(ctx, fillEvery); err != nil {
			return err
		}
	}
}
