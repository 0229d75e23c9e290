# docker build -t arcademark . && mkdir -p runs
# Whatever the user, what is kept in /cache lies in a folder of that user's own, /cache/user-1000.
# docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/runs:/work/runs" -v arcademark-cache:/cache arcademark run random --episodes 3
FROM python:3.11-slim

COPY . /src
RUN python -m pip install --no-cache-dir -c /src/constraints.txt "/src[classic,console,readers]" \
    && useradd --uid 1000 arcademark \
    && install -d -m 1777 /home/arcademark /work /cache
# Compiles the console where pip could not, into the package.
RUN python -c "from arcademark.emulator import build; build.ship(build.SHIPPED)" && arcademark info emulator
ENV ARCADEMARK_CACHE=/cache

# Whoever plays has this home: what Numba and the compiler keep needs one.
ENV HOME=/home/arcademark
USER 1000
WORKDIR /work
ENTRYPOINT ["arcademark"]
CMD ["--help"]
