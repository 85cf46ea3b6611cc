#!/bin/sh
# First-boot configuration of the tiny operating system: a script, as NoCloud allows. Places in double braces are filled in for each machine:
# docs/runtimes.md names them. The machine of the tests reaches its host's loopback by another address.
export KUBERNETES_VERSION={{ kubernetes_version }}
hostname {{ hostname }}
api={{ api_url | replace("127.0.0.1", "10.0.2.2") }}

# A clock that is years off trusts no certificate. There is no time server here: whoever answers at the API tells the time, too.
set_clock() {
  call GET "$api/version" > /dev/null || return
  told=$(sed -n 's/^[Dd]ate: //p' /run/head)
  date -u -D '%a, %d %b %Y %H:%M:%S GMT' -s "$told" > /dev/null && echo "tiny: it is $told"
}
until set_clock; do sleep 1; done

cat > /etc/ca.pem <<'CA'
{{ phone_home_ca or "" }}
CA
until call POST {{ phone_home_url }} {{ phone_home_token }} > /run/answer; do
  if grep -q '^HTTP/1.. 40[149]' /run/head; then break; fi
  sleep 1
done
echo "tiny: has phoned home"
join {{ hostname }} "$api" {{ join_token }} && echo "tiny: has joined"
