"""Runs the fuzzing server of Autobahn|Testsuite on 127.0.0.1; by itself it listens on every interface.

    autobahn-server.py serve SPEC    serves until the process is ended
    autobahn-server.py list SPEC     prints the number and the name of every case that SPEC selects

For Python 2.7, on which the suite runs.
"""

from __future__ import print_function

import json
import sys


def serve(spec):
    """Starts the server, with the one call that opens its port narrowed to loopback."""
    from autobahntestsuite import wstest
    from twisted.internet import reactor

    open_port = reactor.listenTCP

    def open_port_on_loopback(number, factory, backlog=50, interface=None):
        return open_port(number, factory, backlog, "127.0.0.1")

    reactor.listenTCP = open_port_on_loopback
    # Port 0 of the web interface: none.
    sys.argv = ["wstest", "--mode", "fuzzingserver", "--webport", "0", "--spec", spec]
    wstest.run()


def show(spec):
    """Prints the selected cases as the server numbers them."""
    from autobahntestsuite import case
    from autobahntestsuite.caseset import CaseSet

    known = CaseSet(
        case.CaseSetname, case.CaseBasename, case.Cases, case.CaseCategories, case.CaseSubCategories
    )
    with open(spec) as text:
        selected = known.parseSpecCases(json.load(text))
    for number, name in enumerate(selected, start=1):
        print(number, name)


if __name__ == "__main__":
    {"serve": serve, "list": show}[sys.argv[1]](sys.argv[2])
