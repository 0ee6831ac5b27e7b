package redact_test

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/internal/redact"
)

// spacedTaken are secrets behind a blank. What is between « and » has to go.
func spacedTaken() []struct{ rule, text string } {
	const drawn, word = "q7Zr2Lw9" + "Xk4Tn8Vb3Md6", "hunter" + "22"
	bot := "MTI" + "zNDU2Nzg5MDEyMzQ1Njc4" + ".Gx7Zr2." + drawn + "Zr2Lw9Xk4T"
	return []struct{ rule, text string }{
		{"password", "ENV DB_PASSWORD «correcthorse»\n"}, {"password", "FROM x\nENV DB_PASSWORD \"«correct horse»\"\nRUN y"},
		{"password", "ARG NPM_PASSWORD «" + word + "»\n"}, {"secret", "ENV API_TOKEN «" + drawn + "»"}, {"secret", "ARG API_KEY=«" + drawn + "»"},
		{"password", `{"content":"FROM x\nENV DB_PASSWORD «correcthorse»\nRUN y"}`}, {"secret", "  ENV JWT_SECRET   «my-own-secret-word»\n"},
		{"password", "machine example.org login bob password «correcthorse»\n"}, {"password", "machine example.org\n  login bob\n  password «" + word + "»\n"},
		{"password", "default login anonymous password «me@example»"}, {"password", "machine a.example password «" + word + "» login bob"},
		{"password", `"machine a.example login bob password «` + word + `»"`}, {"password", `{"t":"machine a\nlogin bob\npassword «` + word + `»\n"}`},
		{"password", "requirepass «" + word + "»\n"}, {"password", "masterauth «" + word + "»\n"},
		{"password", "CREATE USER bob IDENTIFIED BY '«correct horse»';"}, {"password", "identified by '«pw»'"}, {"password", "ALTER USER bob IDENTIFIED BY \"«" + word + "»\";"},
		{"password", "IDENTIFIED WITH mysql_native_password BY '«" + word + "»'"}, {"password", "IDENTIFIED WITH 'caching_sha2_password' BY '«pw»'"},
		{"password", "GRANT ALL ON *.* TO u IDENTIFIED BY PASSWORD '«*2470C0C06DEE42FD»'"}, {"password", "CREATE USER bob IDENTIFIED BY «" + word + "»;"},
		{"password", "CREATE ROLE bob LOGIN PASSWORD '«correcthorse»';"}, {"password", "ALTER ROLE bob WITH ENCRYPTED PASSWORD '«" + word + "»';"},
		{"password", "alter user bob with password '«" + word + "»';"}, {"password", `{"command":"psql -c \"ALTER ROLE bob PASSWORD '«correcthorse»'\""}`},
		{"password", "sshpass -p «" + word + "» ssh bob@host"}, {"password", "sshpass -p'«correct horse»' scp a b:"}, {"password", "sshpass -p«correcthorse» ssh h"},
		{"password", "mysql -u root -p«correcthorse» shop"}, {"password", "mysqldump -uroot -p'«cor rect»' shop > a.sql"}, {"password", "mariadb -h db -p«" + word + "»"},
		{"password", `{"command":"mysql -u root -p«` + word + `» -e \"select 1\""}`}, {"password", "docker login -u bob -p «" + word + "» r.example"},
		{"password", "podman login -p \"«correcthorse»\" -u bob"}, {"password", "redis-cli -h db -a «correcthorse» ping"}, {"password", "redis-cli -a '«" + word + "»'"},
		{"password", "mongosh -u bob -p «correcthorse» shop"}, {"password", "ldapsearch -D cn=a -w «correcthorse» -b x"}, {"password", "sqlcmd -S h -U sa -P «correcthorse»"},
		{"secret", "    client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFcEFJQkFBS0NBUUVB»\n"},
		{"secret", "\"client-key-data\":\"«LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1IY0NBUUVFSU»\""},
		{"discord-token", "client.login('«" + bot + "»')"}, {"discord-token", "bot.run(\"«" + bot + "»\")"}, {"discord-token", "the bot is «" + bot + "»\n"},
	}
}

func TestWhatIsTakenBehindBlanks(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, tc := range spacedTaken() {
		before, rest, _ := strings.Cut(tc.text, "«")
		secret, after, ok := strings.Cut(rest, "»")
		if !ok {
			t.Fatalf("%q marks nothing", tc.text)
		}
		want := before + redact.Mark(tc.rule) + after
		redacts := r.Text
		if strings.HasPrefix(tc.text, "{") {
			redacts = r.JSON
		}
		if got, _ := redacts(before + secret + after); got != want {
			t.Errorf("%s:\n got %q\nwant %q", tc.rule, got, want)
		}
		if again, _ := redacts(want); again != want {
			t.Errorf("%s: the second time it is %q", tc.rule, again)
		}
	}
}

func spacedStays() []string {
	return []string{
		"ENV PATH /usr/local/bin:$PATH", "ENV DB_PASSWORD_FILE /run/secrets/db", "ARG API_TOKEN\nRUN make", "ENV DB_PASSWORD $PASSWORD", "ENV NODE_ENV production",
		"the env DB_PASSWORD is needed", "environment PASSWORD required", "login page password reset", "please login with password authentication",
		"the machine needs a password", "machine example.org login bob", "password reset", "password for bob:", "enter password 'again'", "PASSWORD ''",
		"identified by its name", "users are identified by email", "identified by the number of", "the folder identified by `path`", "IDENTIFIED BY '<password>'", "IDENTIFIED BY '$PW'", "IDENTIFIED EXTERNALLY",
		"sshpass -f file ssh h", "sshpass -e ssh h", "sshpass -p $PW ssh h", "mysql -u root -p shop", "mysql -h db -P 3306", "mysql --port 3307", "mysqld is up",
		"docker run -p 8080:80 web", "docker login -u bob --password-stdin", "redis-cli -h db -p 6379 ping", "redis-cli --all", "mongod --port 27017",
		"docker run -p 27017:27017 mongo", "ldap is down", "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t", "public-key-data: LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0K",
		"certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM5", "MTIzNDU2", "MTIzNDU2Nzg5MDEyMzQ1Njc4.x.y", "NTI.example.org", "mysql; ssh -p 2222 h",
		"mkdir -p mysql && cd mysql", "kubectl get pods -l app=mongo -o name", "requirepass is a setting", "mysql -p\n", "docker login -p",
	}
}

func TestWhatStaysBehindBlanks(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, s := range spacedStays() {
		if got, found := r.Text(s); got != s {
			t.Errorf("%q became %q %v", s, got, found)
		}
		if got, found := r.JSON(quoted(t, s)); got != quoted(t, s) {
			t.Errorf("JSON: %q became %q %v", s, got, found)
		}
	}
	if n := len(spacedTaken()) + len(spacedStays()) + len(stays()); n < 150 {
		t.Errorf("there are %d cases beside those of TestWhatIsTaken", n)
	}
}
