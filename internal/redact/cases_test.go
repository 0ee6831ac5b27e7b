package redact_test

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/redact"
)

// TestWhatIsTaken are secrets as they stand in files and on screens. What is between « and » has to go, all of it, and
// nothing beside it. Values are made of parts, so that no scanner takes them for real ones.
func TestWhatIsTaken(t *testing.T) {
	t.Parallel()
	const drawn, word = "q7Zr2Lw9" + "Xk4Tn8Vb3Md6", "hunter" + "22"
	for _, tc := range []struct{ rule, text string }{
		// where settings stand
		{"password", "DB_PASSWORD=«" + word + "»"},
		{"password", "export PGPASSWORD=«s3cr=t&;x»\nnext"},
		{"password", "MYSQL_ROOT_PASSWORD=«correcthorse»\n"},
		{"password", "password: «" + word + "»\nuser: bob"},
		{"password", "  password: '«" + word + "»'"},
		{"password", "db.password = «" + word + "»"},
		{"password", "\"password\": \"«Tr0ub4dor&3»\","},
		{"password", "'db_pass': '«p4ssw0rd!»'"},
		{"password", "pwd=«" + word + "»;uid=sa"},
		{"password", "Password=«" + word + "»;Database=x"},
		{"password", "<password>«" + word + "»</password>"},
		{"password", `<add key="DbPassword" value="«` + word + `»"/>`},
		{"password", "- name: DB_PASSWORD\n  value: \"«" + word + "»\"\n"},
		{"password", `{"name": "DB_PASSWORD", "value": "«` + word + `»"}`},
		{"password", "mysql --password «" + word + "» -h db"},
		{"password", "mysql --password=«" + word + "» -h db"},
		{"password", `["mysql", "--password", "«` + word + `»"]`},
		{"password", "the password is «" + word + "», keep it"},
		{"password", "const char *passwd = \"«" + word + "»\";"},
		{"password", "password := \"«" + word + "»\""},
		{"password", "let dbPassword: string = '«" + word + "»';"},
		{"password", "config['password'] = '«" + word + "»'"},
		{"password", "cfg[\"db\"][\"password\"] = \"«" + word + "»\""},
		{"password", "os.environ[\"DB_PASSWORD\"]=\"«" + word + "»\""},
		{"password", `{"code":"os.environ[\"DB_PASSWORD\"] = \"«` + word + `»\""}`},
		{"password", "os.Setenv(\"DB_PASSWORD\", \"«" + word + "»\")"},
		{"password", `{"code":"os.Setenv(\"DB_PASSWORD\", \"«` + word + `»\")"}`},
		{"secret", "setenv('API_TOKEN', '«" + drawn + "»', 1)"},
		{"password", "PASSPHRASE=\"«correct horse battery staple»\""},
		{"password", "export DB_PASSWORD='«correct horse»' && run"},
		{"password", `{"command":"PASSPHRASE=\"«correct horse battery staple»\" ./run"}`},
		{"secret", "API_KEY=«" + drawn + "»"},
		{"secret", "api_key: «" + drawn + "»"},
		{"secret", "apiKey = `«" + drawn + "»`"},
		{"secret", "\"secretKey\":\"«" + drawn + "»\""},
		{"secret", "x-api-key: «" + drawn + "»"},
		{"secret", "the API key: «" + drawn + "»"},
		{"secret", "JWT_SECRET=«my-very-own-secret-word»\n"},
		{"secret", "APP_KEY=«base64:" + drawn + "=»\n"},
		{"secret", "if token == \"«" + drawn + "»\" {"},
		{"secret", ":token => \"«" + drawn + "»\""},
		{"secret", "//registry.example.org/:_authToken=«" + drawn + "»"},
		{"secret", `"auth": "«` + drawn + `»"`},
		{"secret", "aws_session_token = «" + drawn + drawn + "»"},
		{"secret", "https://x.org/a?sig=«" + drawn + "%2Fz»&se=2025"},
		{"secret", "https://x.org/a?b=1&api_key=«" + drawn + "»"},
		{"secret", "login --token «" + drawn + "» --now"},
		{"secret", "{\\\"token\\\": \\\"«" + drawn + "»\\\"}"},
		{"secret", "{\\\\\\\"token\\\\\\\":\\\\\\\"«" + drawn + "»\\\\\\\"}"},
		{"secret", "ENV API_TOKEN «" + drawn + "»\nRUN x"},
		// words, where the place alone says that they are passwords
		{"password", "MYSQL_ROOT_PASSWORD: «swordfish»"},
		{"password", "    environment:\n      MYSQL_ROOT_PASSWORD: «swordfish»\n      TZ: UTC\n"},
		{"password", "  DB_PASS: «correct-horse»  # of the test\r\n"},
		{"password", "+      DB_PASS: «swordfish»\n"}, {"password", "- DB_PASSWORD: «swordfish»"},
		{"password", "     7→      DB_PASSWORD: «swordfish»\n"}, {"password", "compose.yml:7:  DB_PASSWORD: «swordfish»\n"},
		{"password", `{"content":"x:\n  DB_PASS: «swordfish»\n"}`}, {"password", `["+  DB_PASS: «swordfish»","x"]`},
		{"password", "spring.datasource.password=«swordfish»"}, {"password", "a=b\nquarkus.datasource.db-password=«swordfish»\nc=d"},
		{"password", `{"content":"a=b\nspring.datasource.password=«swordfish»\n"}`}, {"password", "+spring.mail.password=«swordfish»\n"},
		{"password", "Server=h;User Id=sa;Password=«correcthorse»;"}, {"password", "Data Source=h; UID=sa; pwd=«correcthorse»"},
		{"password", "Password=«correcthorse»;User ID=sa;Server=h"}, {"password", `"db": "Host=h;Username=u;Password=«correcthorse»"`},
		{"password", `{"db":"Server=h;Uid=u;Password=«correcthorse»;"}`},
		{"password", "mysql --password=«correcthorse»"}, {"password", "pg --db-password=«correcthorse» -h x"},
		{"password", `{"command":"mysql --password=«correcthorse»"}`}, {"password", `["x","--password=«swordfish»"]`},
		{"password", ".env-3-DB_PASSWORD=«swordfish»"}, {"password", "a/.env.local-12-DB_PASSWORD=«sword;fish»\n.env-13-X=1"},
		{"secret", ".env-3-API_TOKEN=«" + drawn + "»"}, {"password", "compose.yml-3-  DB_PASS: «swordfish»\n"},
		{"password", "password: «12345678»"}, {"password", "  passwd: «20240917» # of the stage\n"}, {"password", "psql --password «12345678»"}, {"password", "db_pass: «12345678»"},
		{"user-password", "curl -u bob:«correcthorsebattery»"}, {"user-password", "curl -s --user 'bob:«swordfish»' https://x"},
		{"user-password", `{"command":"curl -u \"bob:«swordfish»\" x"}`},
		// where accounts stand
		{"password-hash", "bob:«$2y$10$" + "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy»\n"},
		{"password-hash", "root:«$6$" + "x1y2z3w4$q7Zr2Lw9Xk4Tn8Vb3Md6Pf5Hs1J»:19000:0:99999"},
		{"password", "db.internal:5432:shop:app:«" + word + "»\n"},
		{"url-password", "jdbc:oracle:thin:scott/«" + word + "»@//db:1521/x"},
		// where they are sent
		{"authorization", "Authorization: «" + drawn + "»"},
		{"authorization", "-H 'Authorization: ApiKey «" + drawn + "»'"},
		{"bearer-token", "curl -H \"Authorization: Bearer «" + drawn + "»\" x"},
		{"url-password", "redis://:«" + word + "»@cache:6379/0"},
		{"url-password", "mongodb+srv://u:«p@ss»@a.example.org,b.example.org/x"},
		{"url-password", "https://«" + drawn + "»@git.example.org/x.git"},
		{"url-password", `"url":"https:\/\/bob:«pw»@example.org\/x"`},
		{"user-password", "curl -u 'bob:«" + word + "»' https://x"},
		{"cookie", "Set-Cookie: session=«" + drawn + "»; Path=/"},
		// half of a key, and keys in the middle of others' lines
		{"private-key", "«-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("q7Zr2Lw9", 8) + "\n" + strings.Repeat("Xk4Tn8Vb", 8) + "»\n... truncated"},
		{"private-key", "tail:\n«" + strings.Repeat("q7Zr2Lw9", 8) + "\nXk4Tn8Vb3M==\n-----END EC PRIVATE KEY-----»\n"},
		{"private-key", `"key": "«-----BEGIN PRIVATE KEY-----\n` + strings.Repeat("q7Zr2Lw9", 8) + `\n-----END PRIVATE KEY-----»\n"`},
		{"private-key", "     1→«-----BEGIN PRIVATE KEY-----\n     2→" + strings.Repeat("q7Zr2Lw9", 8) + "\n     3→-----END PRIVATE KEY-----»\n"},
		{"private-key", "«-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n" +
			strings.Repeat("q7Zr2Lw9", 8) + "\n-----END RSA PRIVATE KEY-----»"},
		{"private-key", "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + strings.Repeat("q7Zr2Lw9", 8) + "\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----»"},
		{"github-token", "the end is cut off: «gh" + "p_" + drawn + "»"},
		{"github-token", "«gh" + "p_q7Zr2Lw9Xk4T» [cmemd: 20480 bytes left out]"},
		{"aws-access-key", "id=«AK" + "IAQ7ZRLWXKTNVBMDPS»,"},
		{"openai-key", "using «sk-" + drawn + drawn + "»."},
		{"azure-client-secret", "value «abc8Q~" + drawn + "Zr2Lw9Xk4Tn8V»"},
	} {
		before, rest, _ := strings.Cut(tc.text, "«")
		_, after, ok := strings.Cut(rest, "»")
		if !ok {
			t.Fatalf("%q marks nothing", tc.text)
		}
		want := before + redact.Mark(tc.rule) + after
		if got, _ := redact.New().Text(before + rest[:len(rest)-len(after)-len("»")] + after); got != want {
			t.Errorf("%s:\n got %q\nwant %q", tc.rule, got, want)
		}
		if strings.HasPrefix(tc.text, "the end is cut off") {
			continue // a token that is too short is one only there
		}
		listed := quoted(t, []string{before + rest[:len(rest)-len(after)-len("»")] + after, "x"})
		wanted := quoted(t, []string{want, "x"})
		for _, kind := range []string{"JSON", "JSON within JSON"} {
			if got, _ := redact.New().JSON(listed); got != wanted {
				t.Errorf("%s, %s:\n got %s\nwant %s", kind, tc.rule, got, wanted)
			}
			listed, wanted = quoted(t, map[string]string{"output": listed}), quoted(t, map[string]string{"output": wanted})
		}
	}
}

// TestWhatStays is text that looks a little like secrets, as tools print it all day.
func TestWhatStays(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, s := range stays() {
		if got, found := r.Text(s); got != s {
			t.Errorf("%q became %q %v", s, got, found)
		}
		for _, text := range []string{quoted(t, s), quoted(t, []string{quoted(t, s)})} {
			if got, found := r.JSON(text); got != text {
				t.Errorf("JSON: %s became %s %v", text, got, found)
			}
		}
	}
	if n := len(stays()); n < 60 {
		t.Errorf("there are %d cases", n)
	}
}

func stays() []string {
	return []string{
		// hashes, ids, checksums
		"commit 3943fd8c1f0a7b6e5d4c3b2a19081726354a5b6c",
		"[main a66fb71] readme: say how to choose a model",
		"index 83db48f..bf2a1c0 100644",
		"3f2504e0-4f89-11d3-9a0c-0305e82c3301",
		`"session_id":"0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"`,
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		`"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="`,
		"github.com/google/uuid v1.6.0 h1:NIvaJDMOsjHA8n1jAhLSgzrAzy1Hgr+hNrb57e+94F0=",
		"The mark of this message is 0f1e2d3c4b5a.\n\n[[0f1e2d3c4b5a 1: Read]]",
		"ETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"",
		"md5 d41d8cd98f00b204e9800998ecf8427e  empty.txt",
		"toolu_01A09q90qw90lq917835lq9",
		"msg_01XFDUDYJgAACzvnptvVoYEL",
		"cache key: node-modules-linux-x64-3f2a9b8c7d6e5f4a",
		`"keyid":"SHA256:jl3bwswu80PjjokCgh0o2w5c2U4LhQAE57gj9cz1kzA"`,
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
		"Fingerprint: SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
		"primary_key: 7f3a9c1e5b8d2460aa51c9f0",
		"idempotency_key=3f2504e0-4f89-11d3-9a0c-0305e82c3301",
		// colours, numbers, times, versions
		"color: #ff00aa; background: #0f0f0f",
		"2025-01-02T03:04:05.678901234Z",
		"node v20.11.1, npm 10.2.4, x86_64-unknown-linux-gnu",
		`"usage":{"input_tokens":123456789,"output_tokens":98765,"cache_creation_input_tokens":0}`,
		"max_tokens: 8192", "token_count=1048576", "tokens used: 4711",
		"0x7ffd5e8c4a30", "10.0.0.1:8080", "0.0.0.0:5432:5432", "awk '{print $5$6}' a", "jdbc:oracle:thin:@//db:1521/x", "oracle:thin:scott/<password>@//db", "-rw-r--r-- 1 root root 5392 Nov 21 00:16 a1.md",
		// code that names secrets
		"password := os.Getenv(\"DB_PASSWORD\")",
		"const token = process.env.GITHUB_TOKEN;",
		"token: ${{ secrets.GITHUB_TOKEN }}",
		"PASSWORD=$DB_PASSWORD ./run.sh", "export API_KEY=${API_KEY}", "API_KEY=<your api key>", "API_KEY=your-api-key-goes-here-1",
		"password = request.form['password']",
		"func (c *Config) Token() string { return c.token }",
		"if password == \"\" {", "self.password = password", "password: str = Field(...)", "PrivateKey: testP256PrivateKey,",
		"secretKeyRef:\n  name: db-credentials-v2\n  key: password",
		"api_key = config.get('api_key', None)", "auth: required", "authorization: enabled", "token_type: bearer",
		"type=\"password\" name=\"password\" placeholder=\"Password\"", `{"password": {"type": "string", "minLength": 8}}`,
		"password_hash = bcrypt.hash(password)", "secret: my-app-secret-name", "// token is the next token of the input",
		"case token.IDENT, token.INT:", "key: value", "for key, value := range m {", "keyboard: QWERTY-2024", "author: Jane Doe <jane@example.org>",
		"--- PASS: TestParse/17_a2b (0.00s)", "pass: 15, fail: 2", "bypass=1a2b3c4d5e", "compass: N45E90",
		"Bearer authentication is used", "Basic authentication is used", "Authorization: Bearer [secret]", "Authorization: Bearer $TOKEN",
		"password = config[\"password\"]", "if form['password'] == other {", `["DB_PASSWORD"], "x1y2z3w4"`,
		`os.Getenv("DB_PASSWORD", "missing")`, `bind("DB_PASSWORD", "DB_PASSWORD_2")`, `["DB_PASSWORD", "sha256sum", "hunter22"]`,
		`{"name": "DB_PASSWORD", "sha256": "yes"}`, `os.Setenv("DB_PASSWORD", password2)`, `os.Setenv("DB_PASSWORD", "$PW2")`,
		`print("DB_PASSWORD=" + read + " of 1")`, `DB_PASSWORD = "a text of several words"`, `API_KEY="the key of the service"`,
		// what stands where a password that is a word would
		"password: 2025-01-02", "password: 10.0.0.1", "password: 12:30:45", "password: 12345",
		"Tests pass: 123456 of 123456", "pass: 100000\nfail: 0", "second pass: 480000 ms",
		"password: string", "password=None", "--password=$PW", "PASSWORD: ${PW}", "password: swordfish", "PASSWORD: the word of the user", "DB_PASSWORD: required",
		"  DB_PASSWORD: SecretStr", "DB_PASSWORD: string;", "DB_PASSWORD: password,", "DB_PASSWORD: dbPassword", "DB_PASSWORD: process.env.DB_PASSWORD", "DB_PASSWORD: db_password",
		"DB_PASSWORD: Optional[str]", "DB_PASSWORD: <password>", "DB_PASSWORD: changeme", "DB_PASSWORD: secretRef", "DB_PASSWORD: &password",
		"see DB_PASSWORD: swordfish", "if DB_PASSWORD: return", "ERR_BAD_PASSWORD: PASSWORD", "PASSWORD_RESET: enabled", "DB_PASSWORD: |", "DB_PASSWORD:\n  swordfish",
		"COMPASS: eastward", "DB_PASSWORD: /run/secrets/pw", "DB_PASSWORD: file:password", "DB_PASSWORD: ENC(abcdef)", "DB_PASSWORD: vault:secret/data/x",
		"self.password=password", "self.db.password=database", "this.form.password=newword;", "user.password=hashed", "app.config.password=newPassword", "app.config.password=new_password",
		"spring.datasource.password=${PW}", "spring.datasource.password=", "a.b.password=read()", "if a.b.password==stored", "spring.datasource.password=password", "form.login.password=a + b",
		"Password=correcthorse", "Password={0};User Id=sa", "Server=h;User Id=sa;Password=<password>;", "Server=h;User Id=sa;Password=yourpassword;", "Server=h;User Id=sa;Password=",
		"server=h; user=u; password=pw", "username=a;password=getPassword", "User Id=sa;Password=%PW%;",
		"--password=PASSWORD", "--password=password", "--password=<password>", "--password=${PW}", "--password=%s", "--password=args.password", "--password=db_password", "--password={pw}",
		"--password=getPassword()", "--password=\"$PW\"", "--password-file=swordfish", "--password=[value]", "--password=string   the password",
		"curl -u user:password", "curl -u username:password", "curl -u bob:$PW", "curl -u bob:<token>", "curl -u bob: x", "curl x | docker run -u bob:wheelers img", "curl -u user:api_token", "curl -u you:your-token",
		"curl x && chown -u daemon:daemons y", "sudo -u daemon:daemons", ".env-3-DB_HOST=swordfish", "a-3-b_password=word",
		// paths and addresses
		"PWD=/home/bob/src/x1y2z3", "SSH_AUTH_SOCK=/tmp/ssh-XXXXXXabc123/agent.1234", "key_file: /etc/ssl/private/server-2024.key",
		"https://example.org:8443/@scope/pkg", "git@github.com:cmemd/cmemd.git", "https://www.npmjs.com/package/js-tokens",
		"\"jsonwebtoken\": \"^9.0.2\"", "docker run -u 1000:1000 alpine", "git push -u origin:main1234", "ssh://git@host:2222/repo.git",
		"/etc/passwd", "C:\\Users\\bob\\token-store\\v2", "risk-assessment-for-2024-quarter-3", "sk-circle-fade-dot", "task-ab12cd34ef56ab12cd34ef56",
		// images, and what is a mark already
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "[cmemd: 20480 bytes of base64 left out]", "[image: 1234 bytes]",
		"password=[redacted:password]", "https://bob:[redacted:url-password]@example.org", "-----BEGIN PRIVATE KEY----- is how it begins",
		"-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEVs/o5+uQbTjL3chynL4wXgUg2R9\n-----END PUBLIC KEY-----",
	}
}
