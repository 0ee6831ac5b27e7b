package privacy

import (
	"strings"
	"testing"
)

// TestDifferences holds what is judged otherwise than in earlier releases, each kind with its reason. Nothing that they hid is
// shown, but for the last kind.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, hidden, shown string }{
		{
			why: "members that editors' tools name files in are known by one list",
			hidden: `
{"targetFiles":["a.go",".env"]}
{"target_notebook":".env"}
{"pathInProject":".env"}
{"from":".env","to":"b"}
{"from":"a","to":".env"}
{"resource":"file:///s/.env"}
{"arg":".env"}
{"file_path":"*** Begin Patch\n*** Add File: .env\n+A=1\n*** End Patch"}`,
			shown: `
{"from":"a","to":"b"}
{"resource":"https://docs.example/process.env"}
{"arg":"main.go"}
{"query":"event.key"}`,
		},
		{
			why: "all files of the clouds' tools hold credentials",
			hidden: `
cat ~/.config/gcloud/credentials
cat ~/.azure/auth.json`,
			shown: `
ls ~/.azure`,
		},
		{
			why: "files of settings hold passwords by the custom of their frameworks",
			hidden: `
cat wp-config.php
grep DB_PASSWORD ./blog/wp-config.php
cat config/database.yml
cd config && cat database.yml
cat src/main/resources/application-secrets.yml
cat group_vars/prod/vault.yml
cd group_vars/all && head vault.yml`,
			shown: `
cat wp-config-sample.php
cat database.yml
cat config/database.yml.example
cat config/routes.rb
cat vault.yml
cd config && cat routes.rb`,
		},
		{
			why: "histories hold what was typed",
			hidden: `
cat ~/.bash_history
tail -100 ~/.zsh_history
grep PGPASSWORD ~/.local/share/fish/fish_history
history
history | grep token`,
			shown: `
history -c
ls -la ~/.bash_history
git log --grep history`,
		},
		{
			why: "programs list an environment that they put together",
			hidden: `
docker compose config
docker compose -f prod.yml config --format json
docker --context prod compose convert
docker-compose config
npm run env
yarn run env
node -p 'require("dotenv").config().parsed'`,
			shown: `
docker compose config --services
docker compose config -q
docker compose ps
docker config ls
npm run build -- env
npm run environment`,
		},
		{
			why: "programs print secrets that no file's name tells of",
			hidden: `
docker inspect --format '{{.Config.Env}}' web
kubectl get secret db -o yaml
kubectl get secrets -ojson
kubectl get secret db --output=jsonpath='{.data.password}' | base64 -d
helm get values web
ansible-vault view prod.yml
sops -d prod.enc.yaml
vault kv get secret/prod
gpg --decrypt letter.gpg
gpg --export-secret-keys -a me
terraform output -json
terraform show -json
tofu state pull
kubectl config view --raw
aws secretsmanager get-secret-value --secret-id db
aws --profile prod ssm get-parameter --name /db --with-decryption
aws configure get prod.aws_secret_access_key
gcloud auth application-default print-access-token
gcloud secrets versions access latest --secret=db
az keyvault secret show --name a --vault-name b
az account get-access-token
heroku config:get DATABASE_URL -a web
op read op://prod/db/password
op item get db --reveal
doppler secrets get DB --plain
chamber export web
infisical export
pass show db/prod
bw get password db
security find-generic-password -s db -w
secret-tool lookup service db
keyring get system me
bin/rails credentials:show
pulumi stack output --show-secrets
gh auth token
npm config get //registry.npmjs.org/:_authToken
git credential fill
age -d letter.age
fc -l -20
pass db/prod
gopass -o db/prod
pass grep user
pass db/prod | head -1
bw list items
bw export --raw
bw --session x get password y
bw unlock --raw
bw unlock --passwordenv BW_PASSWORD
bw login me@example.com --raw
op inject -i app.tpl
op inject < app.tpl
op inject -i app.tpl -o /dev/stdout
op inject -i app.tpl --out-file=/dev/fd/1
esc run org/prod -- env
esc env get org/prod --show-secrets
pulumi env run org/prod -- printenv
pulumi env open org/prod
esc open org/prod
pulumi config get dbPassword
aws eks get-token --cluster-name web
aws --profile p sts assume-role --role-arn x --role-session-name y
aws --profile p configure get p.aws_secret_access_key
bundle exec rails credentials:show
security find-generic-password -ws db
security find-generic-password -gs db
pnpm config get //registry.npmjs.org/:_authToken
yarn config get npmAuthToken
gcloud --project=p secrets versions access 1 --secret s
gcloud --project p secrets versions access 1 --secret s
gcloud beta secrets versions access 1 --secret s
terraform -chdir=infra output -json
kubectl -n prod config view --raw
kubectl --context x get secret db -o yaml
helm -n prod get values web
docker --context x inspect -f '{{.Config.Env}}' web
docker -H ssh://x cp web:/app/.env /tmp/x && cat /tmp/x
kubectl -n prod exec web -- cat /app/.env
git -C sub credential fill
op --account a read op://x
npm --prefix web run env
age -d -o - letter.age`,
			shown: `
PASSWORD=$(kubectl get secret db -o jsonpath='{.data.password}' | base64 -d) && make migrate
curl -sf -H "X-Key: $(vault kv get -field=key secret/x)" localhost
sops -d prod.enc.yaml > prod.yaml && make test
docker inspect --format '{{.State.Status}}' web
kubectl get secrets
kubectl get secret db -o name
kubectl config view
terraform show
terraform state list
aws s3 ls
aws secretsmanager list-secrets
aws sts get-caller-identity
aws configure get region
aws ecr get-login-password | docker login -u AWS --password-stdin x
TOKEN=$(gcloud auth print-access-token) && curl -sf -H "Authorization: Bearer $TOKEN" localhost
gcloud secrets list
gcloud access-context-manager policies list
az keyvault secret list --vault-name b
heroku ps
heroku run rake db:migrate
op item list
op inject -i app.tpl -o app.toml
op inject --in-file app.tpl --out-file=app.toml
export BW_SESSION=$(bw unlock --raw) && make test
bw unlock --check
pulumi env ls
esc env ls
esc run org/prod -- make test
pulumi env run org/prod -- make test
op run -- make test
doppler run -- make test
doppler secrets --only-names
chamber exec web -- make test
pass insert db/prod
bw list folders
rails db:migrate
pulumi stack output
gh auth status
gh pr list
npm config get registry
git credential approve
age -R keys.txt a.txt
age -d -o letter.txt letter.age
aws iam get-role --role-name assume-role-x
aws ecr get-login-password | helm registry login -u AWS --password-stdin x
aws --region x s3 ls
pass
pass ls
gopass sync
pass git push
pass -c db/prod
bw export --output x.json
bw sync
pulumi config
bundle exec rails db:migrate
security find-generic-password -s db
pnpm config get registry
npm --prefix web run test
gcloud --project p secrets list
gcloud beta secrets list
terraform -chdir=infra output
kubectl -n prod config view
kubectl -n prod get secret db
kubectl -n prod exec web -- ls /app/.env
git -C sub status
op --account a item list
kubectl get pods -o yaml
helm get manifest web
ansible-vault encrypt_string x
sops --version
vault kv put secret/prod a=b
gpg --verify a.sig a
terraform output vpc_id`,
		},
		{
			why: "programs of one family are known alike",
			hidden: `
ls -a | zgrep '^\.env' | xargs cat
ls -a | ack '^\.env' | xargs cat
ls -a | mawk '/\.env/' | xargs cat`,
			shown: `
ls -a | zgrep '^\.env'`,
		},
		{
			why: "each word behind a private file may be its copy, wherever the options stand",
			hidden: `
cp .env a.txt /tmp && cat a.txt
ln -s .env y --; cat y`,
			shown: `
cp README.md .env && cat README.md
cp .env /tmp/e && cat /tmp/other`,
		},
		{
			why: "what a program prints to a device is printed, whichever it is",
			hidden: `
dotenv -f .env run x > /dev/stderr`,
			shown: `
dotenv -f .env run x > /dev/null`,
		},
		{
			why: "a file of passwords that an option names is used and not printed: earlier releases hid what came of it",
			hidden: `
ansible-playbook -i hosts site.yml .vault_pass
cat .vault_pass`,
			shown: `
ansible-playbook -i hosts site.yml --vault-password-file .vault_pass
ansible-playbook -i hosts site.yml --vault-pass-file=.vault_pass`,
		},
	} {
		for text, want := range map[string]bool{c.hidden: true, c.shown: false} {
			for _, input := range lines(text) {
				if !strings.HasPrefix(input, "{") {
					input = `{"command":` + quotedText(input) + `}`
				}
				f := (&Rules{}).Inspect("/s", input)
				if hidden := f.LeftOut != "" && !f.OutputStays; hidden != want {
					t.Errorf("%s: %s: got %+v", c.why, input, f)
				}
			}
		}
	}
}

// TestProgramsHaveSources: a row says where its knowledge is from, and no name stands in two.
func TestProgramsHaveSources(t *testing.T) {
	t.Parallel()
	rows := map[string]string{}
	for _, p := range programRows {
		if p.source == "" {
			t.Errorf("%s: no source", p.names)
		}
		for name := range strings.FieldsSeq(p.names) {
			if rows[name] != "" {
				t.Errorf("%s stands in the rows of %s and of %s", name, rows[name], p.names)
			}
			rows[name] = p.names
		}
	}
}
