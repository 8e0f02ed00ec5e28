"""A bare application that answers what it is asked; the port is the first argument."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def echo(request: Request) -> Response:
    """Answer the body."""
    return JSONResponse(await request.json())


if __name__ == "__main__":
    app = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
