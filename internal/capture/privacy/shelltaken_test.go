package privacy

import "testing"

// TestSearchesCountByProgram: the same letter lists files for one search, and follows links for another.
func TestSearchesCountByProgram(t *testing.T) {
	t.Parallel()
	checkLines(t, false, `
rg -L PASS .env
rg -Ln KEY .env
rg -rL x .env
rg -rq y .env
rg -r -q y .env
rg --replace -l y .env
rg --silent x .env
rg -l --json x .env
grep -e -c .env
grep -ie -c .env
grep --regexp -l .env
grep -f -c .env
grep -n -- -c .env
git grep -l -Ocat PASS -- .env
git grep -n -e -l -- .env
ag -q x .env
ag --silent x .env
ag -G -l x .env
`)
	checkLines(t, true, `
rg -l x .env
rg -iLl x .env
rg --hidden -c x .env
rg --quiet x .env
rg -A 3 -l x .env
grep -rlL x .env
grep -hc x .env
grep --color -l x .env
grep -A3 -q x .env
grep -e NOTE -l .env
grep -ie NOTE -c .env
git grep -hL x -- .env
git grep -l x -- .env
ag -l x .env
ag -c x .env
`)
}

// TestCopiesAreFollowed to where the same line prints them.
func TestCopiesAreFollowed(t *testing.T) {
	t.Parallel()
	checkLines(t, false, `
docker cp web:/app/.env /tmp/x && cat /tmp/x
podman cp web:/app/.env x; head x
docker cp .env web:/tmp/x && docker exec web cat /tmp/x
kubectl cp ns/pod:/app/.env /tmp/x && cat /tmp/x
kubectl cp ns/pod:/app/.env /tmp/x -c app && cat /tmp/x
oc cp pod:/app/.env x && cat x
scp -i key.pem host:/app/.env /tmp/x && cat /tmp/x
cat .env > out | wc -l; cat out
env > x | wc -l; cat x
cat .env >&2 | wc -l
env >&2 | wc -l
cat .env > /dev/stderr | wc -l
tar cf a.tar .env && tar xOf a.tar
zip -q a.zip .env && unzip -p a.zip
helm upgrade app ./c -f secrets.yaml -o yaml
helm upgrade app ./c -f secrets.yaml --output json
helm install app ./c -f secrets.yaml -ojson
`)
	checkLines(t, true, `
docker cp web:/app/.env /tmp/x && cat README.md
docker cp web:/app/log /tmp/x && cat /tmp/x
kubectl cp ns/pod:/app/.env /tmp/x && ls -l /tmp/x
scp -i key.pem host:/app/log /tmp/x && cat /tmp/x
cat .env 2>/dev/null | wc -l
cat .env 2>&1 | wc -l
env 2>/dev/null | grep -c FOO
tar czf a.tgz .env && tar tf a.tgz
tar czf a.tgz --exclude .env . && tar xOf a.tgz README.md
zip -r a.zip . -x .env && unzip -p a.zip README.md
helm upgrade app ./c -f secrets.yaml --wait
`)
}

// TestLoopsOverNames are silent only where all of their commands are.
func TestLoopsOverNames(t *testing.T) {
	t.Parallel()
	checkLines(t, false, `
for f in .env; do while read l; do echo "$l"; done < "$f"; done
for f in .env; do source $f; echo $TOKEN; done
for f in .env; do . $f; done; echo $TOKEN
for f in .env; do echo "$(<$f)"; done
for f in .env; do xargs < $f; done
for f in .env; do cp $f x; cat x; done
for f in .env; do while read l; do echo; done < list; cat $f; done
for f in .env; do if true; then echo; fi; cat $f; done
for f in .env; do for g in a; do echo $g; done; cat $f; done
`)
	checkLines(t, true, `
for f in .env .env.local; do test -f $f && echo $f; done
for f in .env; do chmod 600 $f; ls -l $f; done
for f in *.pem; do openssl x509 -in $f -noout -enddate; done
for f in .env; do if [ -f $f ]; then echo $f; fi; done
for f in .env; do wc -l $f; grep -c = $f; done
for f in *.go; do test -f .env && go vet $f; done
for f in a b; do cp $f x; cat x; done
`)
}

// checkLines looks at lines whose output is to stay as it is, or to go.
func checkLines(t *testing.T, stays bool, text string) {
	t.Helper()
	for _, line := range lines(text) {
		f := (&Rules{}).Inspect("/s", `{"command":`+quotedText(line)+`}`)
		if stayed := f.LeftOut == "" || f.OutputStays; stayed != stays {
			t.Errorf("%s: got %+v", line, f)
		}
	}
}

// TestGitShowsChanges: what only moves a file shows it where it is told to.
func TestGitShowsChanges(t *testing.T) {
	t.Parallel()
	checkLines(t, false, `
git add -p .env
git checkout --patch HEAD -- .env
git reset -p .env
git commit -v .env
git log -p -- .env
git config -f ~/.aws/credentials --list
git config --file credentials.ini --get-all x
`)
	checkLines(t, true, `
git add .env
git -c core.pager=cat log --oneline -- .env
git commit -m 'take .env out' .env
git reset HEAD .env
git config core.excludesFile .env
`)
}
