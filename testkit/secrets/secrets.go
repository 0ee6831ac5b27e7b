// Package secrets makes up secrets of many kinds, so that tests can look for them wherever cmemd writes or sends. None
// stands in a file of the project: scanners of repositories find nothing, and no test can know one beforehand.
package secrets

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Secret is one that was made up.
type Secret struct {
	Rule string // of package redact that is to find it
	Text string // as it stands in a text, with what gives it away
	Find string // what must be found nowhere
}

const (
	lower       = "abcdefghijklmnopqrstuvwxyz"
	upper       = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits      = "0123456789"
	hex         = digits + "abcdef"
	alnum       = digits + upper + lower
	base64Chars = alnum + "+/"
)

// Make returns secrets of all kinds, the same ones for the same seed. Each holds digits and letters.
func Make(seed uint64) []Secret {
	m := maker{rand.New(rand.NewPCG(seed, 0x5ec2e7))}
	var all []Secret
	for _, p := range prefixed() {
		text := p.prefix + m.draw(p.chars, p.n)
		all = append(all, Secret{p.rule, text, text})
	}
	return append(all, m.shaped()...)
}

type maker struct{ *rand.Rand }

// draw makes up n characters, of which a digit and a letter stand soon.
func (m maker) draw(chars string, n int) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = chars[m.IntN(len(chars))]
		}
		s := string(b)
		if strings.ContainsAny(s, digits) && strings.ContainsAny(strings.ToLower(s), lower) {
			return s
		}
	}
}

type kind struct {
	rule, prefix, chars string
	n                   int
}

// prefixed are kinds that their makers put a prefix in front of.
func prefixed() []kind {
	return []kind{
		{"anthropic-key", "sk-ant-api03-", alnum, 93},
		{"atlassian-token", "ATATT3", alnum, 186},
		{"aws-access-key", "AKIA", upper + "234567", 16},
		{"buildkite-token", "bkua_", hex, 40},
		{"databricks-token", "dapi", hex, 32},
		{"digitalocean-token", "dop_v1_", hex, 64},
		{"docker-token", "dckr_pat_", alnum, 27},
		{"doppler-token", "dp.pt.", alnum, 43},
		{"github-fine-grained-token", "github_pat_11", alnum, 80},
		{"github-token", "ghp_", alnum, 36},
		{"gitlab-token", "glpat-", alnum, 20},
		{"google-api-key", "AIza", alnum, 35},
		{"google-oauth-secret", "GOCSPX-", alnum, 28},
		{"grafana-token", "glsa_", alnum, 41},
		{"groq-key", "gsk_", alnum, 52},
		{"huggingface-token", "hf_", alnum, 34},
		{"linear-key", "lin_api_", alnum, 40},
		{"newrelic-key", "NRAK-", upper + digits, 27},
		{"npm-token", "npm_", alnum, 36},
		{"openai-key", "sk-proj-", alnum, 74},
		{"postman-key", "PMAK-", hex, 59},
		{"pypi-token", "pypi-AgE", alnum, 150},
		{"rubygems-key", "rubygems_", hex, 48},
		{"sendgrid-key", "SG.", alnum, 66},
		{"sentry-token", "sntryu_", hex, 64},
		{"shopify-token", "shpat_", hex, 32},
		{"slack-token", "xoxb-", alnum, 50},
		{"sonar-token", "squ_", hex, 40},
		{"stripe-key", "sk_live_", alnum, 24},
		{"supabase-key", "sbp_", hex, 40},
		{"twilio-key", "SK", hex, 32},
		{"vault-token", "hvs.", alnum, 90},
		{"cerebras-key", "csk-", lower + digits, 48},
		{"cloudflare-token", "cfut_", alnum, 48},
		{"cursor-key", "key_", hex, 64},
		{"deno-token", "ddp_", alnum, 36},
		{"e2b-key", "e2b_", hex, 40},
		{"firecrawl-key", "fc-", hex, 32},
		{"fireworks-key", "fw_", alnum, 24},
		{"gemini-key", "AQ.Ab8", alnum, 50},
		{"jina-key", "jina_", alnum, 60},
		{"llama-cloud-key", "llx-", alnum, 48},
		{"modal-token", "as-", alnum, 22},
		{"neon-key", "napi_", lower + digits, 64},
		{"pinecone-key", "pcsk_", alnum, 70},
		{"polar-token", "polar_oat_", alnum, 43},
		{"render-key", "rnd_", alnum, 28},
		{"runpod-key", "rpa_", alnum, 44},
		{"together-key", "tgp_v1_", alnum, 43},
		{"vercel-token", "vcp_", alnum, 56},
	}
}

// shaped are kinds that something else gives away: their own shape, or what stands around them.
func (m maker) shaped() []Secret {
	password := func() string { return m.draw(lower+digits, 12) + "K7" }
	named := func(rule, before, value, after string) Secret { return Secret{rule, before + value + after, value} }
	user := "deploy:" + password()
	jwt := "eyJ" + m.draw(alnum, 33) + ".eyJ" + m.draw(alnum, 60) + "." + m.draw(alnum, 43)
	hook := fmt.Sprintf("T%s/B%s/%s", m.draw(upper+digits, 8), m.draw(upper+digits, 10), m.draw(alnum, 24))
	bot := "71" + fmt.Sprint(10000000+m.IntN(1000000)) + ":AA" + m.draw(alnum, 33)
	return append(m.keys(),
		named("authorization", "Authorization: Token ", m.draw(hex, 40), ""),
		named("basic-auth", "Authorization: Basic ", base64.StdEncoding.EncodeToString([]byte(user)), ""),
		named("bearer-token", "Proxy: Bearer ", m.draw(alnum, 40), ""),
		named("cookie", "Cookie: theme=dark; sid=", m.draw(hex, 32), "; lang=de"),
		named("json-web-token", "", jwt, ""),
		named("mailchimp-key", "", m.draw(hex, 32)+"-us14", ""),
		named("password", "export DB_PASSWORD=", password(), "\n"),
		named("password", "spring.datasource.password: ", password(), "\n"),
		named("password", "Server=db;User Id=sa;Password=", password(), ";Encrypt=true"),
		named("secret", "aws_secret_access_key = ", m.draw(base64Chars, 40), "\n"),
		named("secret", `{"name": "app", "client_secret": "`, m.draw(alnum, 32), `"}`),
		named("secret", "https://example.org/cb?access_token=", m.draw(alnum, 40), "&state=1"),
		named("secret", "AccountKey=", m.draw(base64Chars, 86)+"==", ";EndpointSuffix=core.windows.net"),
		named("slack-webhook", "https://hooks.slack.com/services/", hook, ""),
		named("telegram-token", "https://api.telegram.org/bot", bot, "/getMe"),
		named("terraform-token", "", m.draw(alnum, 14)+".atlasv1."+m.draw(alnum, 67), ""),
		named("url-password", "postgres://app:", password(), "@db.internal:5432/shop"),
		named("user-password", "curl -u deploy:", password(), " https://example.org"),
	)
}

// keys are private keys in PEM.
func (m maker) keys() []Secret {
	var all []Secret
	for _, label := range []string{"RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"} {
		lines := []string{m.draw(base64Chars, 64), m.draw(base64Chars, 64), m.draw(base64Chars, 40)}
		all = append(all, Secret{
			"private-key", "-----BEGIN " + label + "-----\n" + strings.Join(lines, "\n") + "\n-----END " + label + "-----\n", lines[1],
		})
	}
	return all
}
