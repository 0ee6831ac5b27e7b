package redact

import "strings"

// A tokenRule knows a secret by what its maker puts in front of it.
type tokenRule struct {
	name     string
	prefixes string          // one or more, between spaces
	tail     func(byte) bool // what may follow
	min, max int             // bytes of what follows; one that is longer than max is none of these. max 0: no limit
	weak     bool            // another rule that knows the same token knows better whose it is
	inside   bool            // letters may stand right before the prefix
	apart    bool            // it may not stand in the middle of base64
	keep     bool            // the prefix stays: it says where, not what
}

// tokenRules lists the rules. Lengths are those of the makers' documents, or a little less where these promise nothing.
func tokenRules() []tokenRule {
	return []tokenRule{
		{name: "adobe-client-secret", prefixes: "p8e-", tail: isAlnum, min: 32, max: 32},
		{name: "age-secret-key", prefixes: "AGE-SECRET-KEY-1", tail: isUpperDigit, min: 58, max: 58},
		{name: "alibaba-access-key", prefixes: "LTAI", tail: isAlnum, min: 16, max: 26},
		{name: "anthropic-key", prefixes: "sk-ant-", tail: isToken, min: 24},
		{name: "atlassian-token", prefixes: "ATATT3 ATCTT3 ATBB", tail: isTokenEq, min: 28},
		{name: "aws-access-key", prefixes: "AKIA ASIA ABIA ACCA", tail: isUpperDigit, min: 16, max: 16},
		{name: "aws-bedrock-key", prefixes: "ABSK bedrock-api-key-", tail: isBase64, min: 96},
		{name: "brevo-key", prefixes: "xkeysib- xsmtpsib-", tail: isToken, min: 64},
		{name: "buildkite-token", prefixes: "bkua_ bkct_", tail: isAlnum, min: 32},
		{name: "circleci-token", prefixes: "CCIPAT_ CCIPRJ_", tail: isToken, min: 32},
		{name: "clojars-token", prefixes: "CLOJARS_", tail: isAlnum, min: 60, max: 60},
		{name: "cloudflare-origin-key", prefixes: "v1.0-", tail: isHexDash, min: 140},
		{name: "contentful-token", prefixes: "CFPAT-", tail: isToken, min: 40},
		{name: "crates-io-token", prefixes: "cio", tail: isAlnum, min: 32, max: 32},
		{name: "databricks-token", prefixes: "dapi", tail: isHexDash, min: 32, max: 36},
		{name: "digitalocean-token", prefixes: "dop_v1_ doo_v1_ dor_v1_", tail: isAlnum, min: 60},
		{name: "discord-webhook", prefixes: "/api/webhooks/", tail: isTokenSlash, min: 60, inside: true, keep: true},
		{name: "docker-token", prefixes: "dckr_pat_ dckr_oat_", tail: isToken, min: 24},
		{name: "doppler-token", prefixes: "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", tail: isDotted, min: 40},
		{name: "dropbox-token", prefixes: "sl.", tail: isTokenDot, min: 130},
		{name: "duffel-token", prefixes: "duffel_live_ duffel_test_", tail: isTokenEq, min: 40},
		{name: "dynatrace-token", prefixes: "dt0c01.", tail: isDotted, min: 80},
		{name: "easypost-token", prefixes: "EZAK EZTK", tail: isAlnum, min: 54, max: 54},
		{name: "elevenlabs-key", prefixes: "sk_", tail: isHex, min: 48, max: 48},
		{name: "facebook-token", prefixes: "EAA", tail: isAlnum, min: 100, apart: true},
		{name: "figma-token", prefixes: "figd_ figo_ figor_", tail: isToken, min: 38},
		{name: "flutterwave-key", prefixes: "FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-", tail: isTokenDot, min: 12},
		{name: "fly-token", prefixes: "fm1_ fm1a_ fm1r_ fm2_ fo1_", tail: isBase64, min: 40},
		{name: "frameio-token", prefixes: "fio-u-", tail: isToken, min: 60},
		{name: "github-token", prefixes: "ghp_ gho_ ghu_ ghs_ ghr_", tail: isAlnum, min: 36, max: 255},
		{name: "github-fine-grained-token", prefixes: "github_pat_", tail: isWord, min: 36},
		{
			name:     "gitlab-token",
			prefixes: "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- glwt-", tail: isTokenDot, min: 20,
		},
		{name: "google-api-key", prefixes: "AIza", tail: isToken, min: 35, max: 35},
		{name: "google-oauth-secret", prefixes: "GOCSPX-", tail: isToken, min: 28},
		{name: "google-oauth-token", prefixes: "ya29. 1//0", tail: isTokenDot, min: 40},
		{name: "grafana-token", prefixes: "glc_ glsa_", tail: isBase64, min: 32},
		{name: "groq-key", prefixes: "gsk_", tail: isAlnum, min: 48},
		{name: "heroku-key", prefixes: "HRKU-", tail: isToken, min: 36},
		{name: "huggingface-token", prefixes: "hf_ api_org_", tail: isAlnum, min: 34, max: 40},
		{name: "infracost-key", prefixes: "ico-", tail: isAlnum, min: 32, max: 32},
		{name: "langsmith-key", prefixes: "lsv2_pt_ lsv2_sk_", tail: isWord, min: 40},
		{name: "linear-key", prefixes: "lin_api_ lin_oauth_ lin_wh_", tail: isAlnum, min: 40},
		{name: "mailgun-key", prefixes: "key-", tail: isHex, min: 32, max: 32},
		{name: "netlify-token", prefixes: "nfp_ nfc_ nfo_", tail: isAlnum, min: 36},
		{name: "newrelic-key", prefixes: "NRAK- NRJS- NRII- NRIQ- NRRA-", tail: isToken, min: 19},
		{name: "notion-token", prefixes: "ntn_", tail: isAlnum, min: 40},
		{name: "notion-secret", prefixes: "secret_", tail: isAlnum, min: 43, max: 43},
		{name: "npm-token", prefixes: "npm_", tail: isAlnum, min: 36, max: 36},
		{name: "nuget-key", prefixes: "oy2", tail: isLowerDigit, min: 43, max: 43},
		{name: "nvidia-key", prefixes: "nvapi-", tail: isToken, min: 60},
		{name: "octopus-key", prefixes: "API-", tail: isUpperDigit, min: 26, max: 30},
		{name: "onepassword-token", prefixes: "ops_eyJ", tail: isBase64, min: 200},
		{name: "openshift-token", prefixes: "sha256~", tail: isToken, min: 43, max: 43},
		{name: "perplexity-key", prefixes: "pplx-", tail: isAlnum, min: 40},
		{name: "planetscale-token", prefixes: "pscale_tkn_ pscale_pw_ pscale_oauth_", tail: isTokenDot, min: 32},
		{name: "plaid-token", prefixes: "access-production- access-sandbox- access-development-", tail: isHexDash, min: 36, max: 36},
		{name: "posthog-key", prefixes: "phx_ phs_", tail: isToken, min: 40},
		{name: "postman-key", prefixes: "PMAK-", tail: isHexDash, min: 59, max: 59},
		{name: "prefect-token", prefixes: "pnu_ pnb_", tail: isAlnum, min: 36},
		{name: "pulumi-token", prefixes: "pul-", tail: isHex, min: 40, max: 40},
		{name: "pypi-token", prefixes: "pypi-AgE", tail: isToken, min: 50},
		{name: "readme-key", prefixes: "rdme_", tail: isLowerDigit, min: 70, max: 70},
		{name: "replicate-token", prefixes: "r8_", tail: isAlnum, min: 37, max: 40},
		{name: "resend-key", prefixes: "re_", tail: isWord, min: 32, max: 40},
		{name: "rubygems-key", prefixes: "rubygems_", tail: isHex, min: 48, max: 48},
		{name: "sendgrid-key", prefixes: "SG.", tail: isTokenDot, min: 60, max: 72},
		{name: "sentry-token", prefixes: "sntrys_ sntryu_", tail: isBase64, min: 64},
		{name: "shopify-token", prefixes: "shpat_ shpca_ shppa_ shpss_", tail: isHex, min: 32, max: 32},
		{name: "slack-token", prefixes: "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe. xoxo- xapp-", tail: isTokenDot, min: 20},
		{
			name:     "slack-webhook",
			prefixes: "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", tail: isTokenSlash, min: 30,
			inside: true, keep: true,
		},
		{name: "sonar-token", prefixes: "squ_ sqp_ sqa_", tail: isHex, min: 40, max: 40},
		{name: "sourcegraph-token", prefixes: "sgp_ slk_", tail: isWord, min: 40},
		{name: "square-token", prefixes: "sq0atp- sq0csp- sq0idp- EAAAE", tail: isToken, min: 22, max: 60},
		{name: "stripe-key", prefixes: "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", tail: isAlnum, min: 10},
		{name: "stripe-webhook-secret", prefixes: "whsec_", tail: isBase64, min: 32},
		{name: "supabase-key", prefixes: "sbp_ sb_secret_ sbp_oauth_", tail: isToken, min: 30},
		{name: "tailscale-key", prefixes: "tskey-", tail: isToken, min: 20},
		{name: "tavily-key", prefixes: "tvly-", tail: isToken, min: 32},
		{name: "teams-webhook", prefixes: "webhook.office.com/webhookb2/", tail: isWebhook, min: 60, inside: true, keep: true},
		{name: "tencent-key", prefixes: "AKID", tail: isAlnum, min: 32, max: 32},
		{name: "twilio-key", prefixes: "SK", tail: isHex, min: 32, max: 32},
		{name: "typeform-token", prefixes: "tfp_", tail: isTokenDot, min: 50},
		{name: "vault-token", prefixes: "hvs. hvb. hvr.", tail: isToken, min: 24},
		{name: "xai-key", prefixes: "xai-", tail: isAlnum, min: 70},
		{name: "yandex-key", prefixes: "AQVN", tail: isToken, min: 35, max: 38},
		{name: "openai-key", prefixes: "sk-", tail: isToken, min: 20, weak: true}, // and of all who speak its protocol
	}
}

// prefixed looks for a token whose prefix is s[start:end].
func (f *finder) prefixed(l *shape, start, end int) {
	t := &l.token
	if !t.inside && !f.begins(start) || f.splits(start) || t.apart && isBase64(f.at(start-1)) {
		return
	}
	stop := f.tailEnd(l, end)
	n := stop - end
	if n < t.min && !f.cutOff(t, start, end, stop) || t.max > 0 && n > t.max || !drawn(f.s[end:min(stop, end+judged)]) {
		return
	}
	if t.keep {
		start = end
	}
	f.spans = append(f.spans, Span{Start: start, End: stop, Rule: t.name, Weak: t.weak})
}

// cutOff reports whether the text ends, or was shortened, in the middle of a token of which enough is there.
func (f *finder) cutOff(t *tokenRule, start, end, stop int) bool {
	const enough, clear = 10, 4 // bytes of the tail, of the prefix
	if stop-end < enough || end-start < clear || t.weak {
		return false
	}
	return stop == len(f.s) || strings.HasPrefix(f.s[stop:], " "+leftOut) || strings.HasPrefix(f.s[stop:], leftOut)
}

// leftOut is how the mark begins that stands where a hook has shortened a text.
const leftOut = "[cmemd: "

// tailEnd returns where what may follow a prefix ends, but for the dots of a sentence.
func (f *finder) tailEnd(l *shape, i int) int {
	if len(f.tails) <= l.tail {
		f.tails = append(f.tails, make([]stretch, l.tail+1-len(f.tails))...)
	}
	return max(i, f.tails[l.tail].end(f.s, i, l.token.tail))
}

// A stretch is the last part of a text, s[from:to], that was made of a class. What begins inside of it ends where it does:
// so that no part is gone through for each place in it where something may begin.
type stretch struct {
	from, to int
	undotted int // to, but for dots before it
}

// end returns where what is made of a class and begins at i ends, but for dots.
func (t *stretch) end(s string, i int, class func(byte) bool) int {
	if i < t.from || i > t.to || t.to == 0 {
		t.from, t.to = i, run(s, i, class)
		t.undotted = t.to
		for t.undotted > i && s[t.undotted-1] == '.' {
			t.undotted--
		}
	}
	return t.undotted
}

// run returns the index of the first byte from i on that is not in a class.
func run(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}
